package prices

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
)

// rule says which model ids an entry of the table is for. Ids come in lower case.
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
	word := func(s *string) string { return strings.ToLower(*s) }
	switch {
	case in.Equals != nil:
		w := word(in.Equals)
		r.test = func(id string) bool { return id == w }
	case in.StartsWith != nil:
		w := word(in.StartsWith)
		r.test = func(id string) bool { return strings.HasPrefix(id, w) }
	case in.EndsWith != nil:
		w := word(in.EndsWith)
		r.test = func(id string) bool { return strings.HasSuffix(id, w) }
	case in.Contains != nil:
		w := word(in.Contains)
		r.test = func(id string) bool { return strings.Contains(id, w) }
	case in.Regex != nil:
		// Compiled when it is first needed: most never are.
		re := sync.OnceValue(func() *regexp.Regexp { re, _ := regexp.Compile(*in.Regex); return re })
		r.test = func(id string) bool { re := re(); return re != nil && re.MatchString(id) }
	case r.any == nil && r.all == nil && r.not == nil:
		return fmt.Errorf("a rule that says nothing: %s", data)
	}
	return nil
}

func (r *rule) fits(id string) bool {
	switch {
	case r.test != nil:
		return r.test(id)
	case r.not != nil:
		return !r.not.fits(id)
	case r.any != nil:
		for i := range r.any {
			if r.any[i].fits(id) {
				return true
			}
		}
		return false
	}
	for i := range r.all {
		if !r.all[i].fits(id) {
			return false
		}
	}
	return r.all != nil
}

var dateTogether = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-(20\d{2})(\d{2})(\d{2})(-|:|$)`) })

// datesApart writes the dates of an id with dashes: providers name the same model both ways.
func datesApart(id string) string {
	return dateTogether().ReplaceAllStringFunc(id, func(s string) string {
		d := s[1:9]
		if _, err := time.Parse("20060102", d); err != nil {
			return s
		}
		return "-" + d[:4] + "-" + d[4:6] + "-" + d[6:] + s[9:]
	})
}
