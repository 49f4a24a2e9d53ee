// Runs a program compiled for wasm32-wasip1: node tools/wasi.mjs PROGRAM [ARGUMENT...]
// The program receives the arguments, the environment and the standard streams, but no access to folders.
import { readFile } from 'node:fs/promises';
import { WASI } from 'node:wasi';

const [program, ...args] = process.argv.slice(2);
const wasi = new WASI({ version: 'preview1', args: [program, ...args], env: process.env });
const { instance } = await WebAssembly.instantiate(await readFile(program), wasi.getImportObject());
process.exitCode = wasi.start(instance);
