import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authorize } from './access/authorize.js';
import type { AdminTokens } from '../actions/access/tokens.js';
import type { AdminRefusal } from '../actions/answer.js';
import type { MountedAnswer } from './send.js';
import type { AdminParts } from '../actions/action.js';

/** What the admin listener shares with a mount. */
export interface AdminCore {
  readonly parts: AdminParts;
  readonly tokens: AdminTokens;
  readonly authorize: Authorize;
}

/** Something mounted next to the admin API: it serves everything at and below its path, and checks access itself. */
export interface Mount {
  /** Without a trailing slash. */
  readonly path: string;
  /** @param response only to see when the client is gone */
  handle(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<MountedAnswer>;
  /** Returns the page for a refusal, made before `handle` or thrown by it. */
  refuse(request: IncomingMessage, refusal: AdminRefusal): Promise<MountedAnswer>;
}

export type MountOf = (core: AdminCore) => Mount;
