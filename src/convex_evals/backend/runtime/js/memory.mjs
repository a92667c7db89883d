// Actions share a process with those that follow. One that has used much memory is not followed: its garbage would be
// counted against the next.
const MEGABYTE = 1024 * 1024;

export function usesLessThan(megabytes) {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external < megabytes * MEGABYTE;
}
