/** The archive cannot be reached, or does not have the requested days. The message says what to do. */
export class ArchiveUnavailable extends Error {
  override readonly name = 'ArchiveUnavailable';
}

/** An archived day is missing, or its rows were changed. */
export class ArchiveDamaged extends Error {
  override readonly name = 'ArchiveDamaged';
}
