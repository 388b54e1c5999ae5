#!/usr/bin/env -S node --stack-size=3900
// The bigger stack lets deeply nested inputs be matched by plain recursion.
import { main } from '../src/cli.js';

process.exitCode = main(process.argv.slice(2));
