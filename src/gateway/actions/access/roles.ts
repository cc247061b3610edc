import { ROLES, type Role } from '../../store/records/admin-token.js';

/** Who may ask a route: the holders of a role, of any good token (`any`), or everybody (`open`, for probes). */
export type Access = Role | 'any' | 'open';

/** Whose routes each role may ask. */
const MAY: Readonly<Record<Role, readonly Role[]>> = {
  read: ['read'],
  billing: ['billing'],
  keys: ['read', 'keys'],
  operator: ROLES,
};

/** The roles that may ask for `access`. */
export function rolesFor(access: Access): readonly Role[] {
  return access === 'any' || access === 'open' ? ROLES : ROLES.filter((role) => MAY[role].includes(access));
}
