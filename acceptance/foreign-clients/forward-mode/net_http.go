// net_http URL
package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
)

func main() {
	for _, path := range []string{"charge", "stream"} {
		query := url.Values{"account": {os.Getenv("SHOP_ACCOUNT")}}
		card, _ := json.Marshal(map[string]string{"card": os.Getenv("SHOP_CARD")})
		var body io.Reader = strings.NewReader(string(card))
		if path == "stream" {
			// Of no length that the client knows: in chunks.
			body = io.MultiReader(body)
		}
		request, err := http.NewRequest("POST", os.Args[1]+"/"+path+"?"+query.Encode(), body)
		if err != nil {
			log.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+os.Getenv("SHOP_KEY"))
		request.Header.Set("Content-Type", "application/json")
		if path == "stream" {
			request.Header.Set("Expect", "100-continue")
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			log.Fatal(err)
		}
		var got any
		if err := json.NewDecoder(answer.Body).Decode(&got); err != nil {
			log.Fatal(err)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		told := map[string]any{
			"status": answer.StatusCode, "chargedWith": answer.Header.Get("x-charged-with"), "body": got,
		}
		if err := json.NewEncoder(os.Stdout).Encode(told); err != nil {
			log.Fatal(err)
		}
	}
}
