/** Harbor's `TrialConfig` (harbor.md §6.2): what our trials say about how they were made. */

export interface TrialConfigInput {
  readonly taskDir: string;
  readonly trialName: string;
  readonly trialsDir: string;
}

/** As `config.json` has it: defaults left out. The agent is Harbor's `nop`, since no agent of Harbor's ran. */
export function briefTrialConfig({ taskDir, trialName, trialsDir }: TrialConfigInput): object {
  return {
    task: { path: taskDir },
    trial_name: trialName,
    trials_dir: trialsDir,
    agent: { name: 'nop' },
    environment: { type: 'docker' },
  };
}

/** As `result.json` has it: every key of 0.22's model; those that Harbor leaves out when empty are left out. */
export function fullTrialConfig({ taskDir, trialName, trialsDir }: TrialConfigInput): object {
  return {
    task: {
      path: taskDir,
      git_url: null,
      git_commit_id: null,
      name: null,
      ref: null,
      overwrite: false,
      download_dir: null,
      source: null,
    },
    trial_name: trialName,
    trials_dir: trialsDir,
    install_only: false,
    timeout_multiplier: 1,
    agent_timeout_multiplier: null,
    verifier_timeout_multiplier: null,
    agent_setup_timeout_multiplier: null,
    environment_build_timeout_multiplier: null,
    agent: {
      name: 'nop',
      import_path: null,
      model_name: null,
      n_concurrent: null,
      concurrency_group: null,
      skills: [],
      override_timeout_sec: null,
      override_setup_timeout_sec: null,
      max_timeout_sec: null,
      resume_trajectory: false,
      load_trajectory: null,
      extra_allowed_hosts: [],
      kwargs: {},
      mcp_servers: [],
    },
    user_agent: null,
    environment: {
      type: 'docker',
      import_path: null,
      force_build: false,
      delete: true,
      cpu_enforcement_policy: 'auto',
      memory_enforcement_policy: 'auto',
      override_cpus: null,
      override_memory_mb: null,
      override_storage_mb: null,
      override_gpus: null,
      override_tpu: null,
      mounts: null,
      extra_docker_compose: [],
      kwargs: {},
      extra_allowed_hosts: [],
    },
    verifier: { override_timeout_sec: null, max_timeout_sec: null, disable: false },
    artifacts: [],
    extra_instruction_paths: [],
    extra_instructions: [],
    job_id: null,
    source_trial: null,
  };
}
