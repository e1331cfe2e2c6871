# Two calls on one connection, the second in chunks and behind 100 Continue.
# sh curl.sh CURL URL
curl=$1 query="account=$(echo "$SHOP_ACCOUNT" | sed 's/ /%20/g')" body="{\"card\":\"$SHOP_CARD\"}"
charge=$2/charge?$query stream=$2/stream?$query
set -- --globoff --silent --show-error --suppress-connect-headers --include \
  --header "Authorization: Bearer $SHOP_KEY" --json "$body"
exec "$curl" "$@" "$charge" --next \
  "$@" --header 'Expect: 100-continue' --header 'Transfer-Encoding: chunked' "$stream"
