package transport

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// answered returns an answer that is a stream of events.
type answered string

func (a answered) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

// Each event of a stream may have as many bytes as a message, wherever a read ends: earlier events do not count.
func TestEventsAreBounded(t *testing.T) {
	for stream, sound := range map[string]bool{
		"12345678\n\n12345678\n\n":      true,
		"1234\r\n\r\n1234\n4567\n":      true,
		"12345678\n\n1234567890":        true,
		"12345678\n\n12345678901":       false,
		"1\n\n\n12345678\n\n1234567890": true,
		"12345678901":                   false,
	} {
		for _, size := range []int{1, 7, 64} {
			intake := NewIntake(Bounds{Message: 10, Unasked: 1000})
			c := NewCarrier(answered(stream), Route{Host: "localhost"}, intake)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/", nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := c.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{res.Body}, make([]byte, size))
			var breach Breach
			if errors.As(err, &breach) == sound || sound && err != nil {
				t.Errorf("%q in pieces of %d: %v", stream, size, err)
			}
		}
	}
}
