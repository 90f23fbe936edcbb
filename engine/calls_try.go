package engine

import "github.com/agentscript/agentscript/generable"

// Fallback runs bodies one after the other until one succeeds. When all fail, the last error is
// given, with notes of the others; what may not be caught ends it at once.
func (c Calls) Fallback(n int, body func(i int, br Branch) error) error {
	return c.b.inTurn(n, func(i int) error {
		return c.One(i, func(br Branch) error { return body(i, br) })
	})
}

// Retry runs a body at most so many times until it succeeds and says that what it gave will do.
// It returns the index of that time; -1 without an error when the last one gave what will not
// do, and with the last error, and notes of the others, when it failed.
func (c Calls) Retry(most int, body func(i int, br Branch) (bool, error)) (int, error) {
	var failed []*Error
	for i := range most {
		done := false
		err := c.One(i, func(br Branch) (err error) {
			done, err = body(i, br)
			return err
		})
		switch {
		case err == nil && done:
			return i, nil
		case err != nil:
			e := c.b.Catch(err)
			if e == nil {
				return -1, err
			}
			if i == most-1 {
				return -1, withNotes(e, failed)
			}
			failed = append(failed, e)
		}
	}
	return -1, nil
}

// Race runs n bodies at once until one succeeds, and gives its index. Which one won is recorded,
// so that a replay does not depend on who is faster then.
func (c Calls) Race(n int, body func(i int, br Branch) error) (int, error) {
	b := c.b
	var e *Effect
	if b.run.spec.Journal != nil {
		e = (&inFlight{effect: Effect{Kind: EffectChoice, Name: c.word, Run: b.RunID(), At: c.at.child(c.word, "", c.n).child("won", "", 0),
			Req: &Choice{n, generable.Value{}}, Class: ClassRead}}).begin()
	}
	return b.compete(e, n, c.branch, func(i int, br *branch) error { return c.run(i, br, body) })
}
