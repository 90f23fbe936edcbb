package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/agentscript/agentscript/engine"
)

// storedTexts returns everything that is stored about a run, by place: its histories, including what is encoded in
// them, and blobs.
func (c *cluster) storedTexts(id string) map[string]string {
	c.t.Helper()
	texts := map[string]string{}
	for _, events := range c.histories(id) {
		for _, e := range events {
			text, err := protojson.Marshal(e)
			if err != nil {
				c.t.Fatal(err)
			}
			texts["event "+e.EventType.String()+" "+e.EventTime.AsTime().String()] = decoded(string(text), 3)
		}
	}
	is, err := c.client.DescribeWorkflowExecution(c.t.Context(), id, "")
	if err != nil {
		c.t.Fatal(err)
	}
	text, err := protojson.Marshal(is)
	if err != nil {
		c.t.Fatal(err)
	}
	texts["description"] = decoded(string(text), 3)
	err = filepath.WalkDir(c.job.Blobs, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		texts[path] = string(data)
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return texts
}

// decoded adds to a text what it contains in base64, and what that contains in turn.
func decoded(text string, deep int) string {
	all := []string{text}
	if deep > 0 {
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == '"' }) {
			if data, err := base64.StdEncoding.DecodeString(word); err == nil && len(data) > 8 {
				all = append(all, decoded(string(data), deep-1))
			}
		}
	}
	return strings.Join(all, "\n")
}

// wantAbsent fails the test if a text contains one of the words.
func wantAbsent(t *testing.T, texts map[string]string, words ...string) {
	t.Helper()
	for where, text := range texts {
		for _, word := range words {
			if i := strings.Index(text, word); i >= 0 {
				t.Errorf("%s: %q", where, text[max(0, i-100):min(len(text), i+len(word)+20)])
			}
		}
	}
}

const secretScript = `
a = agent("a", prompt = "Work on PROMPTWORD.", tools = [look])
def main(what = str):
    first = a("tell")
    tool = a("call look tell PROMPTWORD")
    bad = attempt(lambda: a("fail"))
    big = a("tell PROMPTWORD " + "PROMPTWORD " * 10000)
    word = wait("word")
    return "%s %s %s %s" % (first, tool, str(bad), word)
`

// Promise 31.20 (temporal): the secrets of workers are in no history and in no blob, whatever models and tools say.
// With a codec that encrypts, neither contains any text of prompts, answers, scripts, results and failures.
func TestPromise_31_20_NoSecrets(t *testing.T) {
	shared(t)
	t.Parallel()
	t.Run("secrets", noSecrets)
	t.Run("encrypted", encrypted)
}

func noSecrets(t *testing.T) {
	t.Parallel()
	const secret = "sk-CANARY-0123456789abcdef"
	c := newCluster(t, shared(t), func(j *job) { j.Secret = secret })
	c.worker("one")
	id := c.startRun(secretScript, withArgs(map[string]any{"what": "x"}))
	c.waitingStep(id)
	c.answer(id, "word", wordAnswer("done"))
	if info := c.waitEnd(id); info.Status != engine.RunDone || !strings.Contains(info.Text, "[redacted]") {
		t.Errorf("%s %s %s", info.Status, info.Text, info.Err)
	}
	texts := c.storedTexts(id)
	wantAbsent(t, texts, secret, base64.StdEncoding.EncodeToString([]byte(secret)))
	found := false
	for _, text := range texts {
		found = found || strings.Contains(text, "PROMPTWORD")
	}
	if !found {
		t.Error("the prompts are not found where they are kept: this test sees nothing")
	}
}

func encrypted(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t), func(j *job) { j.Key = 0xA5 })
	c.worker("one")
	id := c.startRun(secretScript, withArgs(map[string]any{"what": "INPUTWORD"}))
	c.waitingStep(id)
	c.answer(id, "word", wordAnswer("SIGNALWORD"))
	if info := c.waitEnd(id); info.Status != engine.RunDone || !strings.Contains(info.Text, "SIGNALWORD") {
		t.Errorf("%s %s %s", info.Status, info.Text, info.Err)
	}
	words := []string{"PROMPTWORD", "INPUTWORD", "SIGNALWORD", "the secret is", "call look", "def main"}
	wantAbsent(t, c.storedTexts(id), words...)

	failing := c.startRun("def main():\n    fail(\"FAILWORD\")\n")
	if e := c.wantFailed(failing); !strings.Contains(e.Error(), "FAILWORD") {
		t.Errorf("%s", &e)
	}
	wantAbsent(t, c.storedTexts(failing), "FAILWORD")

	cancelled := c.startRun("def main():\n    wait(\"WAITWORD\")\n")
	c.waitingStep(cancelled)
	if err := c.CancelRun(t.Context(), cancelled, "REASONWORD"); err != nil {
		t.Fatal(err)
	}
	if info := c.waitEnd(cancelled); !bytes.Contains(info.Err, []byte("REASONWORD")) {
		t.Errorf("%s", info.Err)
	}
	wantAbsent(t, c.storedTexts(cancelled), "REASONWORD", "WAITWORD")
}

func wordAnswer(w string) engine.Answer {
	text, _ := json.Marshal(w)
	return engine.Answer{Result: text}
}
