package generable

import "context"

// contextStep is how many bytes are read between two looks at the context.
const contextStep = 64 << 10

// DecodeContext is [Decode] for texts so long that one may not want to wait: it looks at ctx
// every 64 KiB and gives up with its cause. What is left to do after the last look takes time
// linear in the text.
func DecodeContext(ctx context.Context, t *Type, text string, o Options) (Result, error) {
	m := NewMachine(t, o)
	for n := 0; n < len(text) && len(text) <= maxText; {
		if ctx.Err() != nil {
			return Result{}, context.Cause(ctx)
		}
		n = min(n+contextStep, len(text))
		m.src = text[:n]
		m.open().feed(m.src)
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	m.src = text
	return m.Close(), nil
}
