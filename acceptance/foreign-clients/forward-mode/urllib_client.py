# python3 urllib_client.py URL
import json, os, sys
from urllib.parse import urlencode
from urllib.request import Request, urlopen

for path in ("charge", "stream"):
    query = urlencode({"account": os.environ["SHOP_ACCOUNT"]})
    headers = {"Authorization": "Bearer " + os.environ["SHOP_KEY"], "Content-Type": "application/json"}
    body = json.dumps({"card": os.environ["SHOP_CARD"]}).encode()
    with urlopen(Request(f"{sys.argv[1]}/{path}?{query}", body, headers)) as answer:
        told = {"status": answer.status, "chargedWith": answer.headers["x-charged-with"]}
        print(json.dumps({**told, "body": json.load(answer)}))
