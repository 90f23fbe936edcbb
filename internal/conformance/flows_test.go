package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/flowjson"
)

// flowFile returns a published flow, or one of those rewritten from their description.
func flowFile(name string) string {
	if path := repository("flowjson/testdata/published/" + name + ".json"); exists(path) {
		return path
	}
	return repository("testdata/flowjson/" + name + ".json")
}

func exists(path string) bool {
	found, _ := filepath.Glob(path)
	return len(found) == 1
}

// flowRun is a run of a flow with prepared answers.
type flowRun struct {
	input   string
	compat  string
	answers map[string][]string
	asked   string // the agents whose models are called, in order
	result  string // as text, or
	fails   string // the code of its failure, followed by words of the message
}

func flowAnswers(pairs ...string) map[string][]string {
	answers := map[string][]string{}
	for i := 0; i < len(pairs); i += 2 {
		answers[pairs[i]] = append(answers[pairs[i]], pairs[i+1])
	}
	return answers
}

const (
	approved = `{"success": true, "feedback": ""}`
	rejected = `{"success": false, "feedback": "no"}`
)

// runFlow runs a flow and returns the requests to its models.
func runFlow(t *testing.T, file string, r flowRun) []scripted.Seen {
	t.Helper()
	models := scripted.Answers(r.answers)
	eng := agentscript.New(agentscript.WithModels(models), agentscript.WithFlow(flowjson.LoadOptions{Compat: r.compat}))
	mod, err := eng.LoadFile(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	res, err := mod.Start(t.Context(), agentscript.Input(r.input), agentscript.VirtualTime()).Wait() // branches in source order
	var names []string
	for _, seen := range models.Requests() {
		names = append(names, seen.Agent)
	}
	if got := strings.Join(names, " "); got != r.asked {
		t.Errorf("%s: asked %q, want %q", filepath.Base(file), got, r.asked)
	}
	if r.fails != "" {
		code, words, _ := strings.Cut(r.fails, " ")
		e := engine.AsError(err)
		if err == nil || string(e.Code) != code {
			t.Fatalf("%s: got %v, %v; want %s", filepath.Base(file), res, err, r.fails)
		}
		for _, w := range strings.Split(words, ", ") {
			if !strings.Contains(e.Error(), w) {
				t.Errorf("%s: the failure %q lacks %q", filepath.Base(file), e, w)
			}
		}
		return models.Requests()
	}
	if err != nil {
		t.Fatalf("%s: %v", filepath.Base(file), err)
	}
	if got := res.Text(); got != r.result {
		t.Errorf("%s: got %s, want %s", filepath.Base(file), got, r.result)
	}
	return models.Requests()
}

// Promise 29.1 (flows): every path of the published flows runs unmodified, in order, and no model sees anything that is
// not in the file. The paths include scores at and around the thresholds, languages in either case, unsafe content,
// verifications that fail once, twice and up to the limit, and an invoice that is corrected.
func TestPromise_29_1_EveryPath(t *testing.T) {
	for name, rows := range map[string][]flowRun{
		"random_koog_agent_flow":   {{answers: flowAnswers("get_numbers", "42 58", "calculator", "100"), asked: "get_numbers calculator", result: "100"}},
		"sequential_pipeline_flow": {{answers: flowAnswers("data_collector", "a", "data_enricher", "b", "data_formatter", "c", "quality_checker", approved), asked: "data_collector data_enricher data_formatter quality_checker", result: `{"success":true,"feedback":"","input":"c"}`}},
		"conditional_branching_flow": {
			{input: "80", answers: flowAnswers("score_analyzer", "80", "high_score_feedback", "high"), asked: "score_analyzer high_score_feedback", result: "high"},
			{input: "79", answers: flowAnswers("score_analyzer", "79", "medium_score_feedback", "medium"), asked: "score_analyzer medium_score_feedback", result: "medium"},
			{input: "50", answers: flowAnswers("score_analyzer", "50", "medium_score_feedback", "medium"), asked: "score_analyzer medium_score_feedback", result: "medium"},
			{input: "49", answers: flowAnswers("score_analyzer", "49", "low_score_feedback", "low"), asked: "score_analyzer low_score_feedback", result: "low"},
			{input: "95", answers: flowAnswers("score_analyzer", `"95"`, "high_score_feedback", "high"), asked: "score_analyzer high_score_feedback", result: "high"},
			{input: "95", answers: flowAnswers("score_analyzer", "The score is 95.", "score_analyzer", "95", "high_score_feedback", "high"), asked: "score_analyzer score_analyzer high_score_feedback", result: "high"},
			{compat: flowjson.Upstream, answers: flowAnswers("score_analyzer", "95", "high_score_feedback", "high"), asked: "score_analyzer high_score_feedback", result: "high"},
			{compat: flowjson.Upstream, answers: flowAnswers("score_analyzer", `"95"`), asked: "score_analyzer", fails: `AS702 score_analyzer, "95", ge(80)`},
		},
		"string_comparison_flow": {
			{answers: flowAnswers("language_detector", "en", "english_processor", "E"), asked: "language_detector english_processor", result: "E"},
			{answers: flowAnswers("language_detector", "es", "spanish_processor", "S"), asked: "language_detector spanish_processor", result: "S"},
			{answers: flowAnswers("language_detector", "EN", "other_language_processor", "O"), asked: "language_detector other_language_processor", result: "O"},
			{answers: flowAnswers("language_detector", "de", "other_language_processor", "O"), asked: "language_detector other_language_processor", result: "O"},
			{compat: flowjson.Upstream, answers: flowAnswers("language_detector", "EN", "other_language_processor", "O"), asked: "language_detector other_language_processor", result: "O"},
		},
		"multi_condition_routing_flow": {
			{answers: flowAnswers("content_analyzer", "true", "safe_content_processor", "safe"), asked: "content_analyzer safe_content_processor", result: "safe"},
			{answers: flowAnswers("content_analyzer", "false", "unsafe_content_handler", "unsafe"), asked: "content_analyzer unsafe_content_handler", result: "unsafe"},
			{compat: flowjson.Upstream, answers: flowAnswers("content_analyzer", "perhaps"), asked: "content_analyzer", fails: `AS702 content_analyzer, "perhaps"`},
		},
		"verify_transform_flow": {
			{answers: flowAnswers("task_agent", "Hello, World!", "verify_agent", approved), asked: "task_agent verify_agent", result: `{"success":true,"feedback":"","input":"Hello, World!"}`},
			{answers: flowAnswers("task_agent", "Hello", "verify_agent", rejected, "fix_agent", "Hello, World!"), asked: "task_agent verify_agent fix_agent", result: "Hello, World!"},
		},
		"retry_loop_flow": {
			{answers: flowAnswers("initial_generator", "1", "code_verifier", approved), asked: "initial_generator code_verifier", result: `{"success":true,"feedback":"","input":"1"}`},
			{answers: flowAnswers("initial_generator", "1", "code_verifier", rejected, "code_fixer", "2", "code_verifier", approved), asked: "initial_generator code_verifier code_fixer code_verifier", result: `{"success":true,"feedback":"","input":"2"}`},
			{answers: flowAnswers("initial_generator", "1", "code_verifier", rejected, "code_fixer", "2", "code_verifier", rejected, "code_fixer", "3", "code_verifier", rejected, "code_fixer", "4", "code_verifier", approved),
				asked: "initial_generator" + strings.Repeat(" code_verifier code_fixer", 3) + " code_verifier", result: `{"success":true,"feedback":"","input":"4"}`},
		},
		"complex_decision_tree_flow": {
			{answers: flowAnswers("document_classifier", "invoice", "invoice_processor", "i", "invoice_validator", approved, "final_archiver", "done"), asked: "document_classifier invoice_processor invoice_validator final_archiver", result: "done"},
			{answers: flowAnswers("document_classifier", "Invoice", "invoice_processor", "i", "invoice_validator", rejected, "invoice_corrector", "j", "invoice_validator", approved, "final_archiver", "done"),
				asked: "document_classifier invoice_processor invoice_validator invoice_corrector invoice_validator final_archiver", result: "done"},
			{answers: flowAnswers("document_classifier", "contract", "contract_processor", "c", "contract_risk_analyzer", "r", "final_archiver", "done"), asked: "document_classifier contract_processor contract_risk_analyzer final_archiver", result: "done"},
			{answers: flowAnswers("document_classifier", "report", "report_processor", "r", "final_archiver", "done"), asked: "document_classifier report_processor final_archiver", result: "done"},
			{answers: flowAnswers("document_classifier", "other", "generic_processor", "o", "final_archiver", "done"), asked: "document_classifier generic_processor final_archiver", result: "done"},
		},
		"edge_transformation_flow": {
			{answers: flowAnswers("verify_greeting", rejected, "process_feedback", "used"), asked: "verify_greeting process_feedback", result: "used"},
			{answers: flowAnswers("verify_greeting", approved, "process_success", "yes"), asked: "verify_greeting process_success", result: "yes"},
		},
		"calc_verify_flow": {
			{answers: flowAnswers("number_generator", "2", "calculator", "5", "verifier", rejected, "calculator", "4", "verifier", approved), asked: "number_generator calculator verifier calculator verifier", result: "true"},
		},
	} {
		for _, r := range rows {
			t.Run(name, func(t *testing.T) { runFlow(t, flowFile(name), r) })
		}
	}
}

// Promise 29.2 (flows): an agent whose answer matches none of the words of its transitions is asked again; a second
// such answer fails with the agent, the answer and the words. With the upstream's conditions the run ends where it is
// stuck, with the agent, the value and the transitions that were tried, and the gap is a warning.
func TestPromise_29_2_UnknownWords(t *testing.T) {
	const file = "complex_decision_tree_flow"
	runFlow(t, flowFile(file), flowRun{answers: flowAnswers("document_classifier", "memo", "document_classifier", "letter"), asked: "document_classifier document_classifier",
		fails: `AS706 document_classifier, letter, "invoice", "contract", "report", "other"`})
	runFlow(t, flowFile(file), flowRun{compat: flowjson.Upstream, answers: flowAnswers("document_classifier", "memo"), asked: "document_classifier",
		fails: `AS702 document_classifier, "memo", eq("invoice"), eq("other")`})
	text := source(t, flowFile("multi_condition_routing_flow"))
	gap := strings.Replace(text, `"operation": "not"`, `"operation": "equals"`, 1)
	for compat, want := range map[string]diag.Severity{"": diag.Error, flowjson.Upstream: diag.Warning} {
		_, found := flowjson.Check("f.json", gap, flowjson.Options{Compat: compat})
		var is []diag.Severity
		for _, d := range found {
			if d.Code == diag.FlowGap {
				is = append(is, d.Severity)
			}
		}
		if compat == "" && len(is) == 0 { // intent: true twice is a dead transition and a gap
			t.Errorf("the gap is not found: %v", found)
		}
		for _, s := range is {
			if s != want {
				t.Errorf("compat %q: the gap is a %v", compat, s)
			}
		}
	}
}

func source(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
