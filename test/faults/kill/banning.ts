import type { Subject } from '../../../src/gateway/admission/port.js';
import { askMany, NOON_MS } from '../../conformance/cast.js';
import { openEngine, type Choice } from '../../conformance/open.js';

/** Has its keys banned again and again, until it is killed. */
const [choice, subjects] = JSON.parse(process.argv[2] ?? '') as [Choice, readonly Subject[]];
const engine = openEngine(choice);
/** Longer than any ban of the plan, and far less than a day. */
const ROUND_MS = 201_000;
for (let round = 0; round < 400; round += 1) {
  await Promise.all(subjects.map((subject) => askMany(engine, subject, 6, NOON_MS + round * ROUND_MS)));
  process.send?.(round);
}
