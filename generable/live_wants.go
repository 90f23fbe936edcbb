package generable

// This file decides when a piece of the text is read. Reading a few tokens together takes less
// time than reading each, so it is done when something may become known: a value ends with the
// sign that follows it, and a text is told when it has grown enough. Where the text is no JSON,
// that may be some bytes later.

// fewBytes is how many bytes may wait to be read.
const fewBytes = 16

// What a byte may make known, outside of strings and inside.
const (
	wakesOutside uint8 = 1 << iota
	wakesInside
	wakesQuote // of either: it begins or ends a string
)

// awake says by byte what may become known by it.
var awake = makeAwake()

func makeAwake() (t [256]uint8) {
	for c := range t {
		t[c] = wakesOutside
		if c < 0x20 || c == '\\' {
			t[c] |= wakesInside
		}
	}
	for _, c := range []byte(" \t\r\n:0123456789+-.Eaeflnrstu") { // blanks, numbers, true, false, null
		t[c] &^= wakesOutside
	}
	t['"'] = wakesQuote
	return t
}

// expect notes what the bytes to come may make known.
func (l *live) expect() {
	s := l.m.scan
	l.inside = s.st == stString
	l.eager = l.eager || len(l.frames) == 0 || l.careful || l.repairs < len(s.repairs) || l.inside && s.quote != quoteDouble
}

// wants reports whether what has arrived is to be read, the last of it being the chunk.
func (l *live) wants(chunk string) bool {
	most, from := max(l.minText, fewBytes), l.m.read
	if l.text.node >= 0 {
		most, from = l.minText, l.text.pos
	}
	if l.eager || len(l.m.src)-from >= most {
		return true
	}
	wakes := wakesQuote | wakesOutside
	if l.inside {
		wakes = wakesQuote | wakesInside
	}
	for i := range len(chunk) {
		switch k := awake[chunk[i]]; {
		case k&wakes == 0:
		case k != wakesQuote || !l.inside && l.minText < fewBytes: // a text may begin
			return true
		default:
			wakes ^= wakesOutside | wakesInside
			l.inside = !l.inside
		}
	}
	return false
}
