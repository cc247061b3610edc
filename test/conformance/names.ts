/** What the operations of the suite are called: as the animal store's, or as in a document that is somebody else's. */
const [CREATE, READ, LIST] =
  process.env['CONFORMANCE_NAMES'] === 'foreign'
    ? ['POST /a"b\\c|d/{id}', '__proto__', 'repos/list-für-org']
    : ['createPet', 'getPet', 'listPets'];
export { CREATE, LIST, READ };
