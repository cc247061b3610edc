/** The change was made on the master, but no replica confirmed it in time: a failover may undo it. */
export class ChangeUncertain extends Error {
  override readonly name = 'ChangeUncertain';
}

/** More of a balance is spent than would be left of it. */
export class Overdrawn extends Error {
  override readonly name = 'Overdrawn';
}

/** The record was changed after it was read, or exists already. Read it again and retry. */
export class VersionConflict extends Error {
  override readonly name = 'VersionConflict';
}
