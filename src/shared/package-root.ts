import { fileURLToPath } from 'node:url';

/** Absolute folder that holds package.json and config/, seen from `dist/src/shared/`. */
export const packageRoot = fileURLToPath(new URL('../../../', import.meta.url));
