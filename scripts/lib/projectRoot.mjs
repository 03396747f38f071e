import { fileURLToPath } from 'node:url';

/** The project's folder. Only for scripts that run as they are: in a bundle, a module is somewhere else. */
export const projectRoot = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
