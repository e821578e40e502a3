/** The JSON examples of the authorization page, word for word: with its comments and its trailing commas. */

export const ACCESS_TOKEN = `
// header
{ "alg": "HS256", "typ": "at+jwt" }

// payload
{
  "iss": "https://example.com",
  "sub": "https://example.com/users/42",
  "client_id": "https://example.com",
  "iat": 4102441200,
  "aud": "https://hub.example.com/.well-known/mercure",
  "exp": 4102444800,
  "jti": "urn:uuid:e70ff8d7-59d5-4a92-b0b7-505e8f6d09fa",
  "authorization_details": [
    {
      "type": "https://mercure.rocks/authorization-detail",
      "actions": ["publish"],
      "topics": [{ "match": "*" }],
    },
    {
      "type": "https://mercure.rocks/authorization-detail",
      "actions": ["subscribe"],
      "topics": [
        { "match": "https://example.com/users/42/notifications" },
        {
          "match": "https://example.com/books/:id",
          "match_type": "urlpattern",
        },
      ],
      "payload": { "user": "https://example.com/users/42" },
    },
  ],
}
`

export const PUBLISHERS = `
// Publishers
{
  "authorization_details": [
    {
      "type": "https://mercure.rocks/authorization-detail",
      "actions": ["publish"],
      "topics": [
        {
          "match": "https://example.com/books/:id",
          "match_type": "urlpattern",
        },
        { "match": "https://example.com/announcements" },
      ],
    },
  ],
}
`

export const SUBSCRIBERS = `
// Subscribers
{
  "authorization_details": [
    {
      "type": "https://mercure.rocks/authorization-detail",
      "actions": ["subscribe"],
      "topics": [
        {
          "match": "https://example.com/users/42/:resource",
          "match_type": "urlpattern",
        },
        { "match": "https://example.com/announcements" },
      ],
    },
  ],
}
`

export const PER_USER = `
// Per-user authorization on shared resources
{
  "authorization_details": [
    {
      "type": "https://mercure.rocks/authorization-detail",
      "actions": ["subscribe"],
      "topics": [
        {
          "match": "https://example.com/users/42/:resource",
          "match_type": "urlpattern",
        },
      ],
    },
  ],
}
`

export const PAYLOADS = `
// Subscriber payloads
{
  "authorization_details": [
    {
      "type": "https://mercure.rocks/authorization-detail",
      "actions": ["subscribe"],
      "topics": [{ "match": "https://example.com/users/42" }],
      "payload": { "username": "alice", "ip": "10.0.0.1" },
    },
    {
      "type": "https://mercure.rocks/authorization-detail",
      "actions": ["subscribe"],
      "topics": [
        {
          "match": "https://example.com/books/:id",
          "match_type": "urlpattern",
        },
      ],
      "payload": { "username": "alice" },
    },
  ],
}
`

/** The shell examples of the page; `-k` is added when they run, because the certificate is self-signed. */
export const CURL_PER_USER = `
curl -X POST $HUB -H "Authorization: Bearer $JWT" \\
  -d 'topic=https://example.com/users/42/messages/1' \\
  -d 'private=on' \\
  -d 'data=...'
`

export const CURL_ALTERNATES = `
curl -X POST $HUB -H "Authorization: Bearer $JWT" \\
  -d 'topic=https://example.com/books/1' \\
  -d 'topic=https://example.com/users/42/books/1' \\
  -d 'private=on' \\
  -d 'data=...'
`

/** The JSON documents of an example, without comments and trailing commas. */
export function documentsOf(example: string): readonly Record<string, unknown>[] {
  return example
    .split(/^\/\/.*$/m)
    .filter((text) => text.trim() !== '')
    .map((text) => JSON.parse(text.replace(/,(\s*[}\]])/g, '$1')))
}
