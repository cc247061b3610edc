import { ROLES, type Role } from '../../store/records/admin-token.js';

/** Who may perform an action: holders of a role, of any valid token (`any`), or everyone (`open`, for probes). */
export type Access = Role | 'any' | 'open';

/** The roles that each role includes. */
const MAY: Readonly<Record<Role, readonly Role[]>> = {
  read: ['read'],
  billing: ['billing'],
  keys: ['read', 'keys'],
  operator: ROLES,
};

/** Returns the roles that grant `access`. */
export function rolesFor(access: Access): readonly Role[] {
  return access === 'any' || access === 'open' ? ROLES : ROLES.filter((role) => MAY[role].includes(access));
}
