// Compiles the scanner's loops (src/parse/kernel, AssemblyScript) to WebAssembly: see docs/decisions/0030-scan-kernel.md.
import asc from 'assemblyscript/asc';

/** Writes the kernel to that file; throws with the compiler's own words when it cannot. */
export async function compileKernel(file) {
  const { error, stderr } = await asc.main([
    'src/parse/kernel/kernel.ts',
    ...['--outFile', file],
    ...['-O3', '--noAssert', '--runtime', 'stub', '--enable', 'simd'],
    // The kernel has no data of its own: the caller lays out the memory.
    ...['--initialMemory', '1'],
  ]);
  if (error) throw new Error(`The scan kernel does not compile: ${stderr.toString() || error.message}`);
}
