#!/usr/bin/env bash
# Packs the package, installs the tarball in an empty project beside node@24, and uses it as a user would.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
broker=
trap '[ -z "$broker" ] || kill "$broker" 2>/dev/null || true; rm -rf "$work"' EXIT

npm pack --silent --pack-destination "$work" >/dev/null
mkdir "$work/app" && cd "$work/app"
echo '{"name":"app","private":true,"type":"module"}' >package.json
npm install --silent --no-fund --no-audit "$work"/hivegate-*.tgz node@24

# An older Node is told so in one line.
major=$(/usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin node -p 'process.versions.node.split(".")[0]')
if [ "$major" -lt 24 ]; then
  said=$(/usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin node node_modules/hivegate/bin/hivegate.js 2>&1) && exit 1
  [ "$(echo "$said" | wc -l)" = 1 ] && [[ $said == *"needs Node.js 24"* ]]
fi

export PATH="$PWD/node_modules/.bin:$PATH"
hivegate --version
cat >use.js <<'JS'
const entries = ['hivegate', 'hivegate/auth', 'hivegate/hub', 'hivegate/issuer', 'hivegate/pubsub']
for (const entry of entries) {
  const names = Object.keys(await import(entry))
  if (names.length === 0) throw new Error(`${entry} exports nothing`)
  console.log(entry, names.length)
}
JS
node use.js

port=$(node -e 'const s=require("net").createServer().listen(0,()=>{console.log(s.address().port);s.close()})')
PORT=$port DATA_DIR=$work/data hivegate serve >"$work/log" 2>&1 &
broker=$!
curl --silent --fail --retry 60 --retry-delay 1 --retry-connrefused "http://127.0.0.1:$port/health"
curl --silent --fail "http://127.0.0.1:$port/assets/app.js" >/dev/null
curl --silent --fail "http://127.0.0.1:$port/api/v1/push" -d '{"items":[{"queue":"q","payload":1}]}'
kill "$broker"
wait "$broker"
echo " the installed package works"
