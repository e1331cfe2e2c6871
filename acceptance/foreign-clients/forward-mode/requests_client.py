# python3 requests_client.py URL
import json, os, sys
import requests

body = json.dumps({"card": os.environ["SHOP_CARD"]}).encode()
with requests.Session() as session:
    # In chunks where it can: until 2.29 it sends no Proxy-Authorization with them in plain http.
    parts = iter([body[:5], body[5:]]) if sys.argv[1].startswith("https:") else body
    for path, data in (("charge", body), ("stream", parts)):
        answer = session.post(
            f"{sys.argv[1]}/{path}",
            params={"account": os.environ["SHOP_ACCOUNT"]},
            headers={"Authorization": "Bearer " + os.environ["SHOP_KEY"], "Content-Type": "application/json"},
            data=data,
        )
        told = {"status": answer.status_code, "chargedWith": answer.headers["x-charged-with"]}
        print(json.dumps({**told, "body": answer.json()}))
