package memory
import ("testing";"fmt";"strings";"cordelia/access")
func TestZZ(t *testing.T){
	n := newWarmNode(t)
	words := strings.Fields("alpha beta gamma delta epsilon zeta theta iota kappa lambda sigma omega river stone cloud ember frost grove haven isle")
	st := map[Status]int{}
	n.do(ada, access.Write, func(g access.Grant) error {
	for i := 0; i < 3000; i++ {
			d, _ := Prepare(learning(fmt.Sprintf("%s%d %s%d %s%d %s %s note%d", words[i%20], i%97, words[i/20%20], i%89, words[i/7%20], i%83, words[i%11], words[i%13], i)), ada, nil)
			w,err:=Put(g,d); if err!=nil {return err}
			st[w.Status]++
			if i==2777 { fmt.Println(w, d.words.terms) }
	} ; return nil})
	fmt.Println(st)
	f:=n.search(ada,"note2777")
	for _,h:=range f.Hits { fmt.Println(h.Name,h.Why)}
	q,_ := NewQuery(Search{Text:"river stone cloud note2777"})
	n.do(ada, access.Read, func(g access.Grant) error { see,_:=readable(g); p,_:=newPlan(g.Tx(),see,q,""); for _,o:=range p.order { fmt.Println(o.term,o.df,o.weight,o.fuzzy)}; fmt.Println(see.items, p.probe)
	live,_,_:=p.candidates(g.Tx()); docs,_:=p.rank(g.Tx(),live); for i,d:=range docs { if i<5 || strings.Contains(d.name,"2777") { fmt.Println(i,d.name,d.base,d.score,d.tf,d.tokens)}}
	return nil})
}
