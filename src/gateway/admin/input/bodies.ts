import { text } from '../../accounts/fields.js';
import { duration } from '../../config/schema/values.js';

/** Makes a new secret: how long the one before stays valid. */
export const rotation = { overlap: duration('0s', '90d').prefault('24h') };

/** Begins a ban. */
export const newBan = { for: duration('1s', '366d'), reason: text(200).nullable().default(null) };
