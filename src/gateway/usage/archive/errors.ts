/** The archive can't be reached, or isn't the one that has the days asked for. The message says what to do. */
export class ArchiveUnavailable extends Error {
  override readonly name = 'ArchiveUnavailable';
}

/** Of an archived day not all is there, or it was changed. */
export class ArchiveDamaged extends Error {
  override readonly name = 'ArchiveDamaged';
}
