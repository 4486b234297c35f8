/** What the reader types to run sumi: in a clone that is npm, which leaves its traces in the environment. */
export function typedProgram(env: Readonly<Record<string, string | undefined>>): string {
  const isClone = env.npm_lifecycle_event === 'start' || env.npm_lifecycle_event === 'demo';
  return isClone ? 'npm start --' : 'sumi';
}
