package conformance

import (
	"errors"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
)

// counting returns a transport that counts the connections it opens.
func counting(opened *atomic.Int64) http.RoundTripper {
	base := http.DefaultTransport.(*http.Transport).Clone()
	return tripper(func(r *http.Request) (*http.Response, error) {
		return base.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
			GotConn: func(c httptrace.GotConnInfo) {
				if !c.Reused {
					opened.Add(1)
				}
			},
		})))
	})
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Promise 6.11 (models): an answer that does not fit its type is repaired and the repairs are reported; an answer that
// cannot be repaired is asked for again with the mistakes listed, once by default. If that fails, the text goes to
// `on_bad_output`; without it, the result is an error that keeps the text.
func TestPromise_6_11_AnswersThatDoNotFit(t *testing.T) {
	const decl = `
Verdict = schema("A verdict", ok = bool, score = field(int, "0 to 100", ge = 0, le = 100))
`
	for _, c := range []struct {
		name, agent string
		answers     []string
		want, err   string
		asked       int
	}{
		{"repaired", "", []string{"Sure:\n```json\n{'ok': True, \"score\": \"90\",}\n```\nHope it helps!"}, `{"ok":true,"score":90}`, "", 1},
		{"asked again", "", []string{`{"ok": true, "score": 900}`, `{"ok": true, "score": 90}`}, `{"ok":true,"score":90}`, "", 2},
		{"no more than once", "", []string{"no", "still no", "unread"}, "", "AS706", 2},
		{"twice when told so", ", repairs = 2", []string{"no", "still no", `{"ok": false, "score": 1}`}, `{"ok":false,"score":1}`, "", 3},
		{"never when told so", ", repairs = 0", []string{"no", "unread"}, "", "AS706", 1},
		{"given up for a value", ", on_bad_output = lambda raw: Verdict(ok = False, score = len(raw))", []string{"no", "still no"}, `{"ok":false,"score":8}`, "", 2},
		{"given up for no value", ", repairs = 0, on_bad_output = lambda raw: json.decode('\"no\"')", []string{"no"}, "", "AS705", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var replies []llmtest.Reply
			for _, text := range c.answers {
				replies = append(replies, llmtest.Reply{Text: text, In: 10, Out: 1})
			}
			src := decl + `main = agent(output = Verdict, prompt = "Judge."` + c.agent + ")\n"
			s := serving(t, replies...)
			mod := loaded(t, agentscript.New(agentscript.WithModels(connected(t, s)), agentscript.WithDefaultModel("openai/x")), src)
			var repairs []string
			res, err := mod.Start(t.Context(), input("x"), agentscript.OnEvent(engine.EventRepair, func(e engine.Event) { repairs = append(repairs, e.Text()) })).Wait()
			if n := len(s.Requests()); n != c.asked {
				t.Errorf("asked %d times, want %d", n, c.asked)
			}
			if c.err != "" {
				var e *engine.Error
				if !errors.As(err, &e) || string(e.Code) != c.err {
					t.Fatalf("%s, %v", res.JSON(), err)
				}
				last := c.answers[c.asked-1]
				if c.err == "AS706" && (!errors.Is(err, engine.ErrSchema) || e.Raw != last || e.Usage.In != 10*c.asked || !strings.Contains(e.Help, "on_bad_output")) {
					t.Errorf("raw %q, usage %+v, help %q", e.Raw, e.Usage, e.Help)
				}
				return
			}
			if err != nil || res.JSON() != c.want {
				t.Fatalf("%s, %v", res.JSON(), err)
			}
			if len(repairs) == 0 {
				t.Error("no event tells of the repairs")
			}
			if c.asked == 1 {
				return
			}
			body, _ := s.Requests()[1].JSON()
			sent := messages(body)
			if len(sent) != 4 || sent[2] != "assistant: "+c.answers[0] || !strings.HasPrefix(sent[3], "user: ") {
				t.Fatalf("sent %q", sent)
			}
			if c.name == "asked again" && (!strings.Contains(sent[3], "score") || !strings.Contains(sent[3], "100") || !strings.Contains(sent[3], "900")) {
				t.Errorf("the mistakes are told as %q", sent[3])
			}
		})
	}
}
