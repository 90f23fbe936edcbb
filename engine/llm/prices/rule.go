package prices

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentscript/agentscript/internal/lazy"
)

// rule matches the model ids that an entry of the table applies to. Ids are in lower case.
type rule struct {
	all, any []rule
	not      *rule
	test     func(id string) bool
}

func (r *rule) UnmarshalJSON(data []byte) error {
	var in struct {
		Or, And    []rule
		Not        *rule
		Equals     *string
		StartsWith *string `json:"starts_with"`
		EndsWith   *string `json:"ends_with"`
		Contains   *string
		Regex      *string
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	r.any, r.all, r.not = in.Or, in.And, in.Not
	for _, t := range []struct {
		word *string
		test func(id, word string) bool
	}{
		{in.Equals, func(id, word string) bool { return id == word }},
		{in.StartsWith, strings.HasPrefix}, {in.EndsWith, strings.HasSuffix}, {in.Contains, strings.Contains},
	} {
		if t.word != nil {
			word := strings.ToLower(*t.word)
			r.test = func(id string) bool { return t.test(id, word) }
		}
	}
	if in.Regex != nil {
		// Compiled at first use: most rules are never used.
		re := sync.OnceValue(func() *regexp.Regexp { re, _ := regexp.Compile(*in.Regex); return re })
		r.test = func(id string) bool { re := re(); return re != nil && re.MatchString(id) }
	}
	if r.test == nil && r.any == nil && r.all == nil && r.not == nil {
		return fmt.Errorf("a rule that says nothing: %s", data)
	}
	return nil
}

func (r *rule) fits(id string) bool {
	fits := func(r rule) bool { return r.fits(id) }
	switch {
	case r.test != nil:
		return r.test(id)
	case r.not != nil:
		return !r.not.fits(id)
	case r.any != nil:
		return slices.ContainsFunc(r.any, fits)
	}
	return r.all != nil && !slices.ContainsFunc(r.all, func(r rule) bool { return !fits(r) })
}

var dateTogether = lazy.Regexp(`-(20\d{2})(\d{2})(\d{2})(-|:|$)`)

// datesApart writes the dates in an id with dashes: providers name the same model both ways.
func datesApart(id string) string {
	return dateTogether().ReplaceAllStringFunc(id, func(s string) string {
		d := s[1:9]
		if _, err := time.Parse("20060102", d); err != nil {
			return s
		}
		return "-" + d[:4] + "-" + d[4:6] + "-" + d[6:] + s[9:]
	})
}
