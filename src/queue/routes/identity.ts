import type { Router } from 'express'
import { answerJson } from '../../http/index.ts'
import { logIn, logOut, whoAmI } from '../shapes/identity.ts'
import type { QueueRouteParts } from './parts.ts'

const CLUSTER_ID = 'local'
const TENANT_ID = '00000000-0000-0000-0000-000000000001'

/** Who a dashboard is when tokens are off. Queue API 14. */
const STANDALONE = {
  user_id: 'standalone',
  email: null,
  tenant_slug: 'local',
  is_operator: true,
  operator_enabled: true,
  operator_live: true,
  acting_cluster: { id: CLUSTER_ID, slug: 'local' },
  clusters: [
    {
      id: CLUSTER_ID,
      slug: 'local',
      role: 'admin',
      tenant_slug: 'local',
      tenant_id: TENANT_ID,
      status: 'active',
      cell_slug: 'local',
    },
  ],
  act_cluster_header: 'x-queen-act-cluster',
  role: 'admin',
  cluster: null,
  standalone: true,
}

const LOGIN_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>hivegate</title>
<h1>No login here</h1>
<p>This broker checks bearer tokens and holds no accounts. A dashboard with sessions needs a login proxy in
front of the broker that adds the token to each call.</p>
</html>
`

/** The dashboard's questions about identity. Queue API 14. */
export function identityRoutes(router: Router, { authEnabled }: QueueRouteParts): void {
  router.get(whoAmI.path, (_req, res) => {
    // From the handler, whatever the token: the broker knows no browser sessions.
    if (authEnabled) answerJson(res, 401, { error: 'auth_required', code: 'auth_required' })
    else answerJson(res, 200, STANDALONE)
  })
  router.get(logIn.path, (_req, res) => {
    if (authEnabled) res.type('html').send(LOGIN_PAGE)
    else res.redirect(303, '/')
  })
  router.post(logOut.path, (_req, res) => answerJson(res, 200, { ok: true }))
}
