// Stands in for @vscode/spdlog (a native module that would have to be compiled): same interface, plain file appends.
const { appendFileSync, mkdirSync } = require('node:fs');
const { dirname } = require('node:path');

const LEVELS = ['trace', 'debug', 'info', 'warning', 'error', 'critical'];

class Logger {
  constructor(_type, _name, file) {
    this.file = file;
    this.level = 2;
    this.raw = false;
    mkdirSync(dirname(file), { recursive: true });
  }

  write(level, message) {
    if (level < this.level) return;
    const time = new Date().toISOString().replace('T', ' ').slice(0, -1);
    const line = this.raw ? message : `${time} [${LEVELS[level]}] ${message}\n`;
    try {
      appendFileSync(this.file, line);
    } catch {
      // The log folder is gone: the run is over.
    }
  }

  trace(message) {
    this.write(0, message);
  }

  debug(message) {
    this.write(1, message);
  }

  info(message) {
    this.write(2, message);
  }

  warn(message) {
    this.write(3, message);
  }

  error(message) {
    this.write(4, message);
  }

  critical(message) {
    this.write(5, message);
  }

  getLevel() {
    return this.level;
  }

  setLevel(level) {
    this.level = level;
  }

  setPattern() {}

  clearFormatters() {
    this.raw = true;
  }

  flush() {}

  drop() {}
}

exports.version = 0;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
exports.Logger = Logger;
exports.createRotatingLogger = async (name, file) => new Logger('rotating', name, file);
exports.createAsyncRotatingLogger = async (name, file) => new Logger('rotating_async', name, file);
