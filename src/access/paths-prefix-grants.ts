import { type Action, type Grants, grantsBy } from './grants.ts'
import { allowsPath, type PathAction, type PrefixClaims } from './paths-prefix-claims.ts'

/** The hub's actions in the words of path-prefix tokens. */
const PATH_ACTIONS: Readonly<Record<Action, PathAction>> = { publish: 'put', subscribe: 'get' }

/**
 * Path-prefix claims as grants of the event hub (token issuing, 1.7): each topic is read as a path, `put`
 * publishes and `get` subscribes. Such a token has no payload and no details.
 */
export function grantsOfPrefixes(claims: PrefixClaims): Grants {
  return grantsBy({
    details: [],
    *covers(action: Action, topic: string) {
      yield 1
      return allowsPath(claims, PATH_ACTIONS[action], topic)
    },
    payloadFor: () => undefined,
  })
}
