package search

import (
	"context"
	"slices"
	"strings"
)

// Bounds of the second attempts for a query that finds nothing.
const (
	maxNear    = 8000 // words of the index that are compared with one of the query
	maxMended  = 3    // words of a query
	shortWords = 4    // characters: shorter words have no other forms
)

// otherForms is a query with each word replaced by the words of the index that have its
// stem (English, by SQLite's porter tokenizer).
func (x *Index) otherForms(ctx context.Context, q parsedQuery) (r wanted, ok bool) {
	var with, title []string
	mended := 0
	for _, p := range q.with {
		forms := []string{p.String()}
		if len(p) == 1 && !p[0].prefix && len(p[0].word) >= shortWords && mended < maxMended {
			mended++
			for _, w := range x.sameStem(ctx, p[0].word) {
				forms = append(forms, `"`+w+`"`)
			}
		}
		ok = ok || len(forms) > 1
		with = append(with, "("+strings.Join(forms, " OR ")+")")
		title = append(title, forms...)
	}
	return wanted{q.limited(strings.Join(with, " AND ")), "(title : (" + strings.Join(title, " OR ") + "))"}, ok
}

func (x *Index) sameStem(ctx context.Context, word string) []string {
	near := x.vocabulary(ctx, string([]rune(word)[:min(3, len([]rune(word)))]))
	if len(near) == 0 || x.exec(ctx, "DELETE FROM temp.stem") != nil {
		return nil
	}
	for _, w := range near {
		if x.exec(ctx, "INSERT INTO temp.stem(word) VALUES(?)", w) != nil {
			return nil
		}
	}
	return slices.DeleteFunc(x.column(ctx, "SELECT word FROM temp.stem WHERE stem MATCH ? LIMIT 8", `"`+word+`"`), func(w string) bool { return w == word })
}

// spelling is a query with words of the index in place of those that it has not.
func (x *Index) spelling(ctx context.Context, q parsedQuery, text string) (instead parsedQuery, mended string, ok bool) {
	instead = q
	instead.with = slices.Clone(q.with)
	tried := 0
	for i, p := range q.with {
		if len(p) > 1 || p[0].prefix || len([]rune(p[0].word)) < 3 || x.has(ctx, p[0].word) {
			continue
		}
		if tried++; tried > maxMended {
			return instead, "", false
		}
		near := x.nearest(ctx, p[0].word)
		if near == "" {
			return instead, "", false
		}
		instead.with[i], ok = queryPart{{word: near}}, true
	}
	var b strings.Builder
	for _, dir := range q.in {
		b.WriteString(" in:" + dir)
	}
	for _, p := range instead.with {
		b.WriteString(" " + p.typed())
	}
	for _, p := range q.without {
		b.WriteString(" -" + p.typed())
	}
	return instead, strings.TrimSpace(b.String()), ok
}

// typed is a part as a visitor types it.
func (p queryPart) typed() string {
	s := p.String()
	if len(p) == 1 {
		return strings.ReplaceAll(strings.Trim(s, `" *`), `"`, "") + map[bool]string{true: "*"}[p[0].prefix]
	}
	return strings.TrimSuffix(s, " *")
}

// has reports whether a text holds a word. The vocabulary also has words of deleted texts.
func (x *Index) has(ctx context.Context, word string) bool {
	return len(x.column(ctx, "SELECT rowid FROM text WHERE text MATCH ? LIMIT 1", `{title body} : "`+word+`"`)) > 0
}

// nearest is the word of the index with the fewest changes to this one, of those the
// one that most texts have.
func (x *Index) nearest(ctx context.Context, word string) string {
	r := []rune(word)
	// Most mistakes leave two letters at the beginning, or exchange or lose one of them.
	heads, most := []string{string(r[:2]), string([]rune{r[1], r[0]}), string(r[1:min(3, len(r))]), string(r[:1])}, 1
	if len(r) > 5 {
		most = 2
	}
	best, fewest := "", most+1
	for _, head := range heads {
		if best != "" {
			break
		}
		for _, w := range x.vocabulary(ctx, head) { // most texts first
			if n := distance(word, w, fewest); n < fewest && x.has(ctx, w) {
				best, fewest = w, n
			}
		}
	}
	return best
}

// vocabulary returns the words that begin with head, the most frequent first.
func (x *Index) vocabulary(ctx context.Context, head string) []string {
	return x.column(ctx, "SELECT term FROM (SELECT term, doc FROM vocabulary WHERE term >= ?1 AND term < ?1 || char(0x10ffff) LIMIT ?2) ORDER BY doc DESC", head, maxNear)
}

// column returns the first column of a query; rows that cannot be read are left out.
func (x *Index) column(ctx context.Context, query string, args ...any) (all []string) {
	rows, err := x.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var s string
		if rows.Scan(&s) == nil {
			all = append(all, s)
		}
	}
	return all
}

// distance is how many characters are to be inserted, deleted, replaced or exchanged
// with a neighbour to make b of a (Damerau), or most if it is not less.
func distance(a, b string, most int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) >= most || len(y)-len(x) >= most {
		return most
	}
	var before []int
	last, row := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		before, last, row = last, row, append([]int{i + 1}, make([]int, len(y))...)
		for j := range y {
			change := 1
			if x[i] == y[j] {
				change = 0
			}
			row[j+1] = min(last[j]+change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return min(row[len(y)], most)
}
