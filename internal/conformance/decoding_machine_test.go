package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// seams has everything in whose middle a piece can end: a byte order mark, a reasoning tag, fence markers, runes of two
// to four bytes, escapes, a surrogate pair, numbers, words, comments.
const seams = "\ufeff<think>{\"name\": 1}</think> Sé:\n~~~~json\n" +
	`{'name': "é…😀 \u00e9\ud83d\ude00\n", address: {"street": “s”, /* c */ "zip": 12.0e0,}, "aliases": ["a" "b" // d` +
	"\n, ...], x: TRUE}\n~~~~\nDone ```."

// Promise 13.1 (types and decoding): a text may be cut anywhere, even inside runes, escapes, surrogate pairs, tags and
// fence markers; values, repairs and errors are those of the whole text.
func TestPromise_13_1_AnyCut(t *testing.T) {
	r := newReader(t)
	for _, name := range []string{"Profile", "any", "Ints", "str"} {
		typ := r.typ(name)
		want := told(r.read(name, seams))
		for cut := range len(seams) {
			m := lenient.NewMachine(typ, generable.Options{})
			m.Feed(seams[:cut])
			m.Feed("")
			m.Feed(seams[cut:])
			if got := told(m.Close()); got != want {
				t.Fatalf("%s cut before %q:\n%s\nat once\n%s", name, seams[cut:min(cut+8, len(seams))], got, want)
			}
		}
		s := lenient.NewStream(typ, lenient.StreamOptions{On: func(*lenient.StreamEvent) {}})
		inPieces(s, seams, 1)
		if got := told(s.Close()); got != want {
			t.Errorf("%s byte by byte:\n%s\nat once\n%s", name, got, want)
		}
	}
	if res := r.read("Profile", seams); !res.OK || len(kindsOf(res)) < 8 {
		t.Errorf("the text is not broken in many ways: %s", told(res))
	}
}

// Promise 13.2 (types and decoding): nesting beyond the limit, 512 by default, is an error with its position, not a
// panic; if the context ends, decoding ends with its cause.
func TestPromise_13_2_DepthAndContext(t *testing.T) {
	nested := func(n int) string { return strings.Repeat(`{"a":[`, n/2) + "1" + strings.Repeat(`]}`, n/2) }
	for _, c := range []struct {
		limit, depth int
		ok           bool
	}{{0, 512, true}, {0, 514, false}, {4, 4, true}, {4, 6, false}, {100_000, 100_000, true}} {
		res := lenient.Decode(nil, nested(c.depth), generable.Options{MaxDepth: c.limit})
		if res.OK != c.ok {
			t.Errorf("%d levels with the limit %d: ok is %t, %v", c.depth, c.limit, res.OK, res.Errors)
		}
		if c.ok {
			continue
		}
		limit := max(c.limit, 512)
		if c.limit > 0 {
			limit = c.limit
		}
		if e := res.Errors[0]; e.Offset < limit || !strings.Contains(e.Error(), strconv.Itoa(limit)) {
			t.Errorf("%d levels with the limit %d: the error says %+v", c.depth, c.limit, *e)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if _, err := lenient.DecodeContext(ctx, nil, "["+strings.Repeat("1,", 1<<20)+"1]", generable.Options{}); !errors.Is(err, enough) {
		t.Errorf("decoding ends with %v, want the context's cause", err)
	}
}

// Promise 13.3 (types and decoding): valid JSON is never altered: no repair is made, and the value is the one that a
// strict reader returns, whatever its strings look like.
func TestPromise_13_3_ValidJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 3))
	traps := []string{"", " a ", "x,}", "// no", "'q'", "True", "```json\n{}\n```", "<think>", "...", "{\"a\": 1}", "\\", "say \"hi\"", "\u2028é😀\x00", "：，", "1,234"}
	var value func(depth int) any
	value = func(depth int) any {
		switch rng.IntN(8 - 2*min(depth, 1)) {
		case 0, 1:
			return traps[rng.IntN(len(traps))]
		case 2:
			return rng.Int64() - math.MaxInt64/2
		case 3:
			return rng.NormFloat64()
		case 4:
			return rng.IntN(2) == 0
		case 5:
			return nil
		case 6:
			list := make([]any, rng.IntN(4))
			for i := range list {
				list[i] = value(depth - 1)
			}
			return list
		}
		dict := map[string]any{}
		for range rng.IntN(4) {
			dict[traps[rng.IntN(len(traps))]] = value(depth - 1)
		}
		return dict
	}
	for range 2000 {
		text, err := json.Marshal([]any{value(4), value(4)})
		if err != nil {
			t.Fatal(err)
		}
		for _, level := range []generable.Level{generable.Strict, generable.Safe, generable.Loose} {
			res := lenient.Decode(nil, string(text), generable.Options{Level: level})
			if !res.OK || len(res.Repairs) > 0 || res.Cost != 0 {
				t.Fatalf("%s at level %d: %s", text, level, told(res))
			}
			var got, want any
			if err := errors.Join(json.Unmarshal([]byte(generable.JSON(res.Value, nil)), &got), json.Unmarshal(text, &want)); err != nil || fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
				t.Fatalf("%s becomes %s (%v)", text, generable.JSON(res.Value, nil), err)
			}
		}
	}
}

// Promise 13.4 (types and decoding): integers keep every digit, even beyond 64 bits, and a float that is written and
// read again has the same bits.
func TestPromise_13_4_Numbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 4))
	for range 2000 {
		digits := strconv.Itoa(1 + rng.IntN(9))
		for range rng.IntN(60) {
			digits += strconv.Itoa(rng.IntN(10))
		}
		if rng.IntN(2) == 0 {
			digits = "-" + digits
		}
		for _, typ := range []*generable.Type{nil, generable.IntT} {
			if res := lenient.Decode(typ, digits, generable.Options{}); !res.OK || len(res.Repairs) > 0 || generable.JSON(res.Value, typ) != digits {
				t.Fatalf("%s becomes %s", digits, told(res))
			}
		}
		f := math.Float64frombits(rng.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		text := strconv.FormatFloat(f, 'g', -1, 64)
		res := lenient.Decode(generable.FloatT, text, generable.Options{})
		again := lenient.Decode(generable.FloatT, generable.JSON(res.Value, generable.FloatT), generable.Options{})
		for _, r := range []lenient.Result{res, again} {
			if got, ok := r.Value.AsFloat(); !ok || math.Float64bits(got) != math.Float64bits(f) {
				t.Fatalf("%s becomes %s", text, told(r))
			}
		}
	}
	for _, text := range []string{"1e400", "-1e400", "NaN", "Infinity"} {
		if res := lenient.Decode(generable.FloatT, text, generable.Options{Level: generable.Loose}); res.OK {
			t.Errorf("%s becomes %s", text, generable.JSON(res.Value, nil))
		}
	}
}

// Promise 13.5 (types and decoding): the value that was read from a text, written as JSON and read again, is the same
// value without a repair.
func TestPromise_13_5_Idempotent(t *testing.T) {
	r := newReader(t)
	for _, c := range append(malformations(), reading{as: "Profile", text: seams}, reading{as: "any", text: seams}) {
		res := r.read(c.as, c.text)
		if !res.OK {
			t.Errorf("%s of %q: %v", c.as, c.text, res.Errors)
			continue
		}
		text := generable.JSON(res.Value, r.typ(c.as))
		if again := r.read(c.as, text); !again.OK || len(again.Repairs) > 0 || generable.JSON(again.Value, r.typ(c.as)) != text {
			t.Errorf("%s of %q is %s, and of that %s", c.as, c.text, text, told(again))
		}
	}
}
