package live

// repository is a small program with a fault, and tests of it that the models do not see.
type repository struct {
	name   string
	words  string // what is asked for
	files  map[string]string
	hidden string // a shell script; exit 0 = mended
}

// repositories are of the shell alone, so that no tool has to be installed.
func repositories() []repository {
	return []repository{
		{"sum", "sum.sh prints the sum of the whole numbers on its input, one a line; negative numbers count, and " +
			"without a number it prints 0; sh check.sh passes",
			map[string]string{
				"sum.sh":   "grep '^[0-9]' | awk '{ s += $1 } END { print s }'\n",
				"check.sh": "test \"$(printf '1\\n2\\n' | sh sum.sh)\" = 3 && test \"$(printf '5\\n-2\\n' | sh sum.sh)\" = 3\n"},
			"test \"$(printf -- '-4\\n-6\\n' | sh sum.sh)\" = -10 && test \"$(printf '' | sh sum.sh)\" = 0\n"},
		{"median", "median.sh prints the median of the whole numbers on its input, one a line: of an even count the " +
			"lower of the two in the middle; sh check.sh passes",
			map[string]string{
				"median.sh": "sort | awk '{ a[NR] = $1 } END { print a[int(NR / 2)] }'\n",
				"check.sh":  "test \"$(printf '3\\n1\\n2\\n' | sh median.sh)\" = 2\n"},
			"test \"$(printf '2\\n9\\n100\\n' | sh median.sh)\" = 9 && " +
				"test \"$(printf '4\\n1\\n3\\n2\\n' | sh median.sh)\" = 2\n"},
		{"dedupe", "dedupe.sh prints each line of its input once, where it first came; sh check.sh passes",
			map[string]string{
				"dedupe.sh": "sort -u\n",
				"check.sh":  "test \"$(printf 'b\\na\\nb\\n' | sh dedupe.sh | tr '\\n' ' ')\" = 'b a '\n"},
			"test \"$(printf 'x z\\nx y\\nx z\\n' | sh dedupe.sh | tr '\\n' ,)\" = 'x z,x y,'\n"},
		{"pad", "pad.sh prints each whole number of its input with three digits, one a line; sh check.sh passes",
			map[string]string{
				"pad.sh":   "while read -r n; do printf '%03d\\n' \"0$n\"; done\n",
				"check.sh": "test \"$(printf '7\\n08\\n' | sh pad.sh | tr '\\n' ' ')\" = '007 008 '\n"},
			"test \"$(printf '010\\n123\\n9\\n' | sh pad.sh | tr '\\n' ' ')\" = '010 123 009 '\n"},
		{"slug", "slug.sh prints its first argument in lower case with each run of other characters than letters and " +
			"digits as one hyphen, and none at either end; sh check.sh passes",
			map[string]string{
				"slug.sh":  "printf '%s' \"$1\" | tr 'A-Z ' 'a-z-'\n",
				"check.sh": "test \"$(sh slug.sh 'Hello, World')\" = hello-world\n"},
			"test \"$(sh slug.sh '  Two -- Parts! ')\" = two-parts && test \"$(sh slug.sh 'A1 b2')\" = a1-b2\n"},
		{"ini", "ini.sh FILE SECTION KEY prints the value of a key in a section of a file; sh check.sh passes",
			map[string]string{
				"ini.sh":   "sed -n \"s/^$3 *= *//p\" \"$1\"\n",
				"check.sh": "printf '[a]\\nx = 1\\n[b]\\nx = 2\\n' > /tmp/ini.$$ && test \"$(sh ini.sh /tmp/ini.$$ b x)\" = 2\n"},
			"printf '[a]\\nk = one\\nkk = two\\n[b]\\nk=three\\n' > t.ini && test \"$(sh ini.sh t.ini a k)\" = one && " +
				"test \"$(sh ini.sh t.ini b k)\" = three\n"},
	}
}
