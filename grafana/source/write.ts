import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/shared/package-root.js';
import { dashboardFiles } from './dashboards.js';

/** Run after a change to the dashboards: `node dist/grafana/source/write.js`. */
const folder = join(packageRoot, 'grafana/dashboards');
mkdirSync(folder, { recursive: true });
for (const [name, text] of dashboardFiles()) writeFileSync(join(folder, name), text);
