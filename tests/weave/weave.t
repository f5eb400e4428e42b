#!/usr/bin/env perl
# The weaver, called as a person calls it. It weaves a small book, which this test
# reads. Then the test plants each fault that an author can make: the weaver names
# its file and line, and leaves the woven book as it was.

use strict;
use warnings;
use utf8;
use open qw(:std :encoding(UTF-8));
use Cwd qw(abs_path);
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use FindBin qw($Bin);
use Test::More;
use Wait qw(wait_until);

plan skip_all => 'PANDOC is not set: make test-book sets it' if !$ENV{PANDOC};

my $root  = tempdir(CLEANUP => 1); # the small book
my $tools = tempdir(CLEANUP => 1); # pandocs that misbehave
my $temp  = tempdir(CLEANUP => 1); # where the weaver keeps its scratch files
# The weaver may lie in a folder of any name.
my $odd = "$tools/Gr\xc3\xb6\xc3\x9fe [b]{c}";
system(qw(cp -R), "$Bin/../../tools", $odd) == 0 or die "$odd: cannot be made\n";
my $pandoc = $ENV{PANDOC} =~ m{/} ? abs_path($ENV{PANDOC}) : $ENV{PANDOC};
@ENV{qw(PANDOC TMPDIR)} = ($pandoc, $temp);
delete $ENV{BUILD};

my (undef, %good) = split /^==== (\S+)\n/m, <<'END';
==== book.md
---
title: A small book
subtitle: Of two chapters
lang: en
bibliography: book.bib
link-citations: true
parts:
  - title: The first part
    first: first
  - title: The appendix
    first: errata
---

An invitation to read [](#second-one).

# Preface {#preface}

Prose may say /* here, as this is no C file. Take [the files]{.files}.

![The scene](scene.svg){#fig-scene}

# Glossary {#glossary}

| Term | What |
|:-----|:-----|
| [score, mark](#here) of it | first |
| [matrix](#there) | second |
| [note](#a-section) | third |

# Sources {#sources}

::: {#refs}
:::
==== book.bib
@book{known, author = {Known, Ann}, title = {A Known Book}, year = {2001}}
@online{wort, author = {{Wer}}, title = {4. Das Wort im Satz (A Word)}, year = {2002}, langid = {german}}
@book{satz, author = {{Wer}}, title = {Sätze}, year = {2003}, langid = {german}}
@online{ma, author = {马育民}, title = {大原理：QK 的 (Big)}, year = {2004}, langid = {chinese}}
==== chapters/01_first.c
/*
# First things & others {#first}

The mathematics is $a_i^{k+1}$. Somebody said so [@known].[^late]

A list right before code:

- one
- two
*/

#include "attention/01_first.h"
#include <stdio.h>

/*
## A section {#a-section}

See [](#second-one), [](#a-section), [](#fig-plot), [](#exercise-1-1) and
[](#there). [](#errata) is [69%]{.cited} of it, and [](#preface) too. A **note**.

**Exercise 1.1** (★, 2 points): `twice`. Twice as much.

::: hint
Add it to itself.
:::

::: hint
Or multiply.
:::

::: done
Now double.
:::
*/

float twice(float x);

float twice(float x)
{
    return x < 0 ? 2 * x : x + x; /* "quoted" & more */
}

/*
``` output
twice (1)
[2.0000]
```

![What to see in it](plot.svg){#fig-plot}

::: question
Will it be **more**?

Yes.
:::

``` python
print(2 * torch.ones(1))
```

``` {.output args="'a b'" status=2}
nothing
```

## Solutions

**Exercise 1.2** (★★★, challenge): `thrice`. Three times.

**Exercise 1.3** (by hand): On paper.

::: {.solution exercise="1.2"}
Like this:
*/

float thrice(float x)
{
    return x + twice(x);
}

/*
That is all.
:::

::: milestone
Done.
:::
*/

int main(void)
{
    return 0;
}

/*
[^late]: Defined in the last prose of the file.
*/
==== chapters/02_second_one.c
/*
# Second *one* {#second-one}

*/
#include "attention/02_second_one.h"
#include "support.h"
/*

## There {#there}

Back to [](#first) and [](#a-section), and [its output](#fig-plot).[^late]
Two **scores**, a **note**, **Matrices**, []{#here}the **Scores** and **score**.

[^late]: Another one of the same name.
*/


int second(void) { return 2; }


/*  
The end, and the header: [](#header-first). It declares

::: {.header of="Pair Sizes"}
:::

::: {.header of="Pair" until="both"}
:::
*/
==== chapters/A_errata.c
/*
# Mistakes {#errata}

**Exercise A.1** (★, 1 point): `print_half`. Half of it [@wort; @satz; @ma].
*/

#include <stdio.h>

/* folded: how this is printed */
static void show_half(void)
{
    puts("half");
}

/* unfolded */

void print_half(float x)
{
    printf("%f\n", (double)x);
}

/*
## Solutions

Nor these.
*/
==== src/attention.h
/*
# The headers {#reference}
*/

#pragma once

#include "attention/01_first.h"
#include "attention/02_second_one.h"
#include "support.h"
==== src/attention/01_first.h
/*
## Chapter 1 {#header-first}
*/

#pragma once

/* Twice as much. */
float twice(float x);
==== src/attention/02_second_one.h
/*
## Chapter 2 {#header-second-one}
*/

/* Two of a kind.
 * And of one size. */
typedef struct {
    int one, two; /* in order */

    float both;
} Pair;
typedef int Sizes[2];

int second(void);
==== src/support.h
/*
## Support {#header-support}
*/

int support;
==== build/figures/01/plot.svg
<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" role="img" width="300" height="100"
 viewBox="0 0 300 100" aria-labelledby="t d"><title id="t">T</title>
<desc id="d">D</desc><rect id="r" width="9" height="9"/></svg>
==== build/figures/page/scene.svg
<svg xmlns="http://www.w3.org/2000/svg" width="300" height="100"></svg>
END

# ------------------------------------------------------------------- helpers

sub slurp { open my $f, '<', $_[0] or return ''; local $/; return scalar(<$f>) // '' }

sub put {
    my ($path, $text) = @_;
    make_path($path =~ m{^(.*)/});
    open my $f, '>', $path or die "$path: $!";
    print $f $text;
    close $f or die "$path: $!";
}

# Runs the weaver in the small book's folder. Returns its exit status and its words.
sub weave {
    my $said = qx{cd '$root' && '$^X' '$odd/weave/weave' @_ 2>&1};
    return ($? >> 8) . "\n$said";
}

# All files below a folder, and their bytes, in few words.
sub bytes_of { return scalar qx{cd '$_[0]' && find . -type f | sort | xargs cksum} }

sub litter { return join ' ', grep { !m{/(book|figures)$} } glob "$root/build/* $temp/*" }

# A program of the shell's that stands in for pandoc.
sub script {
    my ($name, $text) = @_;
    put("$tools/$name", "#!/bin/sh\n$text");
    chmod 0755, "$tools/$name";
    return "$tools/$name";
}

# ------------------------------------------------------- a good book is woven

put("$root/$_", $good{$_}) for sort keys %good;
is(weave('build/book'), "0\n", 'the book is woven silently');
is(litter(), '', 'and nothing is left beside it');
my $book  = "$root/build/book";
my @order = qw(index preface first second-one errata glossary sources reference book-index);
is_deeply([sort map {m{([^/]+)\.html$}} glob "$book/*.html"], [sort @order, '404'], 'it has these pages');
my %page = map { $_ => slurp("$book/$_.html") } @order;

for (
    [index => qr{invitation.*<a href="second-one\.html"[^>]*>chapter.2</a>}s, 'what invites to read'],
    [index => qr{The first part.*First things.*The appendix.*Mistakes.*Glossary}s, 'the parts in order'],
    [preface => qr{Prose may say /\* here}, 'prose that no C comment holds'],
    [first => qr{<title>First things &amp; others · A small book</title>}, 'a title of its own'],
    [first => qr{<hgroup><p>Chapter 1 <span>.*href="source/01_first\.c"}, 'its kind and its file'],
    [first => qr{href="sources\.html#ref-known"[^>]*>Known 2001</a>}, 'a source'],
    [first => qr{<section id="footnotes".*Defined in the last prose}s, 'a footnote that code parts'],
    [first => qr{figure.1\.1</a>.*exercise.1\.1</a>.*“There”</a>\.\s+<a[^>]*>Appendix.A<}s, 'words of references'],
    [first => qr{Hint 1</span>.*Hint 2</span>.*When its tests pass</span>}s, 'hints in their order'],
    [first => qr{class="note"><a href="#exercise-1-1">exercise 1\.1</a> asks for\s+<code>twice</code>}, 'whose it is'],
    [first => qr{id="L38"><a [^>]*></a>.*href="reference\.html#L14"[^>]*>twice</a>}, 'a definition, to its header'],
    [first => qr{<svg [^>]*labelledby="plot-t plot-d"><title id="plot-t">}, 'a picture with ids of its own'],
    [first => qr{ARGS=&quot;&#39;a b&#39;&quot;|ARGS="'a b'"}, 'how a program was run'],
    [first => qr{What do you expect\?</span> Will it be <strong>more}, 'a question that folds'],
    [first => qr{<details class="shows">\n<summary>.*lines 89 to 92}, 'the program is folded'],
    ['second-one' => qr{<details class="announced">.*id="H\d+">.*Pair}s, 'the header of a chapter'],
    ['second-one' => qr{On this page: 1 section, 2 terms, 1 function, 2 types}, 'what is new'],
    ['second-one' => qr{<strong>scores.*id="term-matrix".*>Matrices<.*id="here".*id="term-score"}s, 'terms'],
    [errata => qr{<details class="shows">\n<summary><span class="label">How this is printed<.*lines 10 to 13<.*</details>.*print_half}s, 'what a mark folds'],
    [errata => qr{<h2 id="errata-solutions">}, 'a section that has no id gets one'],
    [errata => qr{<span lang="zh">马育民</span> 2004</a>}, 'a name is said to be Chinese'],
    [glossary => qr{first\.html#term-note".*#term-matrix".*#term-score"}s, 'in the order of the book'],
    [sources => qr{“<span lang="de">4\. Das Wort im Satz</span> \(A Word\)}, 'a title is said to be German'],
    [reference => qr{in src/attention/02_second_one\.h</p>.*href="second-one\.html#L18"}s, 'the headers'],
    ['book-index' => qr{<code>twice</code></a>.*used in <a href="first\.html#L36"}, 'the index'],
) {
    my ($name, $pattern, $what) = @$_;
    like($page{$name}, $pattern, "$name: $what");
}
like(slurp("$book/symbols.js"), qr{"twice":\["float twice\(float x\);","Twice as much\.","Chapter\xa01","1"\]},
    'what a card shows');
is(slurp("$book/source/attention/01_first.h"), $good{'src/attention/01_first.h'}, 'a source to download');
{
    put("$root/book.md", $good{'book.md'} =~ s{^lang:}{address: https://example.org/it/\nrepository: https://github.com/an/it\nlang:}mr);
    put("$root/build/web/programs/01.js", 'a module');
    is(weave('build/elsewhere'), "0\n", 'woven with an address, and with programs to run');
    my %at = map { $_ => slurp("$root/build/elsewhere/$_") } qw(first.html preface.html 404.html sitemap.xml);
    like($at{'first.html'}, qr{rel="canonical" href="https://example\.org/it/first\.html".* src="run\.js"}s, 'a page');
    like($at{'first.html'}, qr{files: <a href="https://github\.com/an/it">source</a>.*/latest/download/attention-in-c\.epub">EPUB<.*"https://github\.com/an/it/edit/main/chapters/01_first\.c">Change}s, '... says where its files are');
    like($at{'preface.html'}, qr{Take the files \(<a href="https://github\.com/an/it">source</a>, }, '... and so does its text');
    like($at{'404.html'}, qr{<a href="https://example\.org/it/index\.html">}, 'a lost page leads back');
    like($at{'sitemap.xml'}, qr{<loc>https://example\.org/it/errata\.html</loc>}, 'the map of the site');
    put("$root/book.md", $good{'book.md'});
    remove_tree("$root/build/web", glob "$root/build/elsewhere*");
}

# --------------------------------------------------------------------- faults

my %file = (FIRST => 'chapters/01_first.c', SECOND => 'chapters/02_second_one.c',
    BOOK => 'book.md', OWN => 'src/attention/02_second_one.h');
my $before = bytes_of($book);
sub unharmed { ok(bytes_of($book) eq $before && litter() eq '', "$_[0]: does no harm") }

# The number of the line in which a text stands, or stands again ("2nd:").
sub line_of {
    my ($file, $text, $offset) = @_;
    my $nth = $text =~ s/^2nd:// ? 1 : 0;
    my @lines = split /\n/, slurp("$root/$file");
    my @found = grep { index($lines[$_], $text) >= 0 } 0 .. $#lines;
    return ($found[$nth] // die "$file has no line with $text") + 1 + ($offset // 0);
}

# Puts a stanza's edits into the first file that they fit. Returns the file.
sub plant {
    my @edits = map { [split / →(?: |$)/, s/↵/\n/gr, 2] } @_;
    my ($file) = grep { index($good{$_}, $edits[0][0]) >= 0 } @file{qw(FIRST SECOND BOOK OWN)};
    my $planted = $good{$file // die "fits nowhere: @_"};
    $planted =~ s/\Q$_->[0]\E/$_->[1]/ or die "does not fit: @_" for @edits;
    put("$root/$file", $planted);
    return $file;
}

for my $stanza (split /\n\n+/, do { local $/; <DATA> }) {
    my @lines = split /\n/, $stanza;
    my $file  = plant(grep { !/^>/ } @lines);
    my @expected = map { s/^> //r } grep {/^>/} @lines;
    for (@expected) {
        s{(\w+):«(.*?)»([+-]\d+)?}{"$file{$1}:" . line_of($file{$1}, $2, $3)}ge;
        s{«(.*?)»([+-]\d+)?}{line_of($file, $1, $2)}ge;
        s{\b(FIRST|SECOND|BOOK|OWN)\b}{$file{$1}}g;
    }
    like(weave('build/book'), qr/\A1\n@{[join "\n", map {"\Q$_\E.*"} @expected]}\n\z/, "seen: $lines[0]");
    unharmed('...');
    put("$root/$file", $good{$file});
}

# ------------------------------------------------------------ calls and pandocs

is(weave(), "1\nusage: PANDOC=/path/to/pandoc tools/weave/weave FOLDER\n", 'refused: no folder');
like(weave('build/it.epub'), qr/\A1\n\S+ there is no build\/it-cover\.png/, 'refused: an EPUB without its cover');
unlink "$root/book.md";
is(weave('build/book'), "1\nbook.md: cannot be read: No such file or directory\n", 'refused: no book.md');
put("$root/book.md", $good{'book.md'});
for my $path (script('old', "echo pandoc 2.17.1.1\n"), "$tools/none") {
    local $ENV{PANDOC} = $path;
    like(weave('build/book'), qr/\A1\n\S+ PANDOC='\Q$path\E' must name a pandoc of version 3/, "refused: $path");
}
put("$root/build/mine/letter.txt", 'Dear');
like(weave('build/mine'), qr/\A1\n\S+ build\/mine is something else than a woven book/, 'refused: another folder');
is(slurp("$root/build/mine/letter.txt"), 'Dear', '... which keeps what it has');
remove_tree("$root/build/mine");

# One pandoc fails; another is interrupted when it has written its output.
{
    my $version = qq{case "\$*" in *--version) exec $pandoc --version; esac\n$pandoc "\$@"\n};
    local $ENV{PANDOC} = script('broken', qq{${version}echo "out of memory" >&2\nexit 251\n});
    is(weave('build/book'), "1\ntools/weave/weave: pandoc: out of memory\n", 'a pandoc that fails is quoted');
    unharmed('...');
    $ENV{PANDOC} = script('slow', "${version}touch $tools/started\nexec sleep 600\n");
    my $pid = fork // die $!;
    if (!$pid) { chdir $root; open STDERR, '>', '/dev/null'; exec $^X, "$odd/weave/weave", 'build/book' }
    wait_until { unlink "$tools/started" } 'a pandoc at work';
    kill TERM => $pid;
    waitpid $pid, 0;
    ok($?, 'a weave that is interrupted ends');
    unharmed('...');
}

done_testing();

# Each stanza is a fault: what stands after "→" takes the place of what stands before
# it, where ↵ is the end of a line. A line ">" has what the weaver must say, or how that
# begins; FIRST:«text» has the number of the line that holds the text.
__DATA__
[2.0000]↵``` → [2.0000]
> FIRST:«``` output»: the fence ``` output is never closed: ``` is missing

Or multiply.↵::: → Or multiply.
> FIRST:«2nd:::: hint»: the div ::: hint is never closed: a line ":::" is missing

Done.↵::: → Done.↵:::↵↵More.↵:::
> FIRST:«More.»+1: ":::" closes a div that was never opened

↵::: milestone → Text.↵::: milestone
> FIRST:«::: mile»: a blank line is missing before ::: milestone

::: milestone → ::: mile stone
> FIRST:«::: mile»: this opens no div: ::: mile stone (one word or {...} must follow the colons)

::: milestone → ::: millstone
> FIRST:«::: mill»: a div of an unknown kind, millstone: there are question, hint, done,

Like this: → Like ::: this:
> FIRST:«Like»: ":::" is read as text: it must begin its line, and a blank line must stand

↵↵Yes. →
> FIRST:«::: question»: a question is a paragraph that asks, a blank line, and the answer

exercise="1.2" → exercise="1.9"
> FIRST:«exercise="1.9"»: a solution of exercise 1.9, which FIRST does not have

That is → That */ is
> FIRST:«That */»: prose holds "*/": That */ is all. (the prose of line «That */»-1 ends by a

of the file.↵*/ → of the file.
> FIRST:«[^late]:»-1: prose is never closed: a line that is only "*/" is missing

int main → */↵int main
> FIRST:«int main»-1: "*/" ends prose that no line "/*" opened

Like this: → --- ---↵a   b
That is all. → c   d↵--- ---
> FIRST:«float thrice»: this listing is swallowed by the prose before it: a table or the like

is all. → is all.[^none]
> FIRST:«[^none]»: the footnote [^none] is not defined

Done. → Done.↵↵[^some]: More.
> FIRST:«[^some]»: the footnote [^some] is defined, but not used

That is → That [@unknown] is
> FIRST:«@unknown»: the source @unknown is cited, but not in the bibliography

That is → That $\nonsense{x}$ is
> FIRST:«\nonsense»: bad TeX: \nonsense{x}

[](#there) → [](#where)
> FIRST:«#where»: the link #where leads nowhere: no heading, figure or exercise has this id

That is all → That is [all](second-one.html)
> FIRST:«second-one.html»: a link leads to #id or to a full address: not to second-one.html

That is → That [](https://example.org/) is
> FIRST:«example.org»: a link without words: [](https://example.org/)

The end, → ### It {#fig-plot}↵↵The end,
> SECOND:«{#fig-plot}»: the id fig-plot is taken: FIRST:«{#fig-plot}» has it

plot.svg → plod.svg
> FIRST:1: the figure plot.svg is drawn (build/figures/01/plot.svg), but not shown
> FIRST:«plod.svg»: the figure plod.svg is shown, but not drawn: there is no

[](#fig-plot) → [it](#fig-plot)
![What to see in it](plot.svg){#fig-plot} → []{#fig-plot} Text.
> FIRST:1: the figure plot.svg is drawn (build/figures/01/plot.svg), but not shown

That is all. → ↵![It](plot.svg)↵
> FIRST:«2nd:plot.svg»: the figure plot.svg is shown twice: refer to it by [](#id)

[](#fig-plot) → [it](#fig-plot)
![What to see in it](plot.svg){#fig-plot} → []{#fig-plot}↵↵![](plot.svg)
> FIRST:«plot.svg»: the figure plot.svg has no caption: ![What to see in it](plot.svg)

[](#fig-plot) → [it](#fig-plot)
![What to see in it](plot.svg){#fig-plot} → []{#fig-plot} See ![it](plot.svg).
> FIRST:«plot.svg»: the figure plot.svg must stand alone in its paragraph

That is → []{#spot} That [](#spot) is
> FIRST:«(#spot)»: a link without words: [](#spot) leads to what has no number and no title

scene.svg → seen.svg
> BOOK:«seen.svg»: the figure seen.svg is shown, but not drawn: there is no build/figures/page/seen.svg

{#first} → {#fist}
> FIRST:2: the second line must be "# Title {#first}", not "# First things & others {#fist}"

/*↵# First → int x;↵/*↵# First
> FIRST:1: a chapter begins with a line "/*", not with int x;

Done. → Done.↵:::↵↵# Again {#again}↵↵::: milestone
> FIRST:«# Again»: a second heading of level 1: "Again" (a file is one page; use ##)

# Sources {#sources} → # Sources
> BOOK:«# Sources»: the page "Sources" has no id: # Sources {#...}

lang: en → address: https://example.org
> BOOK:«address:»: address is https://.../, with a "/" at its end: not https://example.org

lang: en → repository: https://example.org/edit
> BOOK:«repository:»: repository is https://github.com/OWNER/NAME: not https://example.org/edit

lang: en → aliases:↵  there: here↵  nowhere: it, too
> BOOK:«nowhere:»: the names for #nowhere lead nowhere: no heading, term or figure has this id

first: errata → first: errors
> BOOK:«errors»: part 2 must have a title and, as first, the id of a page: not "errors"

::: {#refs}↵::: → None.
> FIRST:1: sources are cited, but no page of the book holds ::: {#refs}

`twice` → `twize`
> FIRST:«`twize`»: exercise 1.1 names the function twize, which FIRST does not define with its

float twice(float x);↵↵ → /* folded: how this is drawn */↵
> FIRST:«Exercise 1.1»: exercise 1.1 asks for twice, which is folded

float thrice → /* folded: how it looks */↵float thrice
> FIRST:«it looks»: a mark is one of /* folded: how this is drawn */, /* folded: how this is printed */,

    return x + → /* unfolded */↵    return x +
> FIRST:«unfolded»: this mark changes nothing: /* unfolded */

    return x + →     // folded↵    return x +
> FIRST:«// folded»: a mark is one of

int main → /* folded: how this is printed */↵int main
> FIRST:«folded:»: this mark changes nothing: /* folded: how this is printed */

/*↵[^late] → /* folded: how this is drawn */↵/*↵[^late]
> FIRST:«folded:»: this mark changes nothing

int second(void); → /* folded: how this is drawn */↵int second(void);
> OWN:«folded:»: this mark changes nothing

`twice`. Twice → Twice
> FIRST:«Exercise 1.1»: exercise 1.1 names no function: **Exercise 2.1** (★★, 3 points):

Exercise 1.3 → Exercise 2.3
> FIRST:«Exercise 2.3»: exercise 2.3 stands in FIRST: its number must begin with 1.

(by hand): On → On
> FIRST:«Exercise 1.3»: an exercise begins like **Exercise 2.1** (★★, 3 points): `name`. ... or

↵**Exercise 1.3 → Next:↵**Exercise 1.3
> FIRST:«Exercise 1.3»: exercise 1.3 is no paragraph of its own: a blank line is missing before

Yes. → ~~~ c↵x↵~~~
> FIRST:«~~~ c»: a fence is three backticks in column 0, alone or before a word or {...}: not

Yes. → Yes.↵↵    int x;
> FIRST:«int x;»: this is read as code, though no fence is around it: int x;

Yes. → Yes.↵↵--- ---↵a   b↵``` c↵x↵```↵--- ---
> FIRST:«``` c»: this fence is not read as code: what is above it does not end there

until="both" → until="neither"
> SECOND:«neither»: the type Pair has no line with "neither"

.header of="Pair Sizes" → .header
> SECOND:«.header»: no header declares a type ?: ::: {.header of="..."} names types of the

Pair Sizes"}↵ → Pair"}↵↵Text.↵↵
> SECOND:«Pair»: a div .header is empty: the declarations take its place

header-second-one} → header-second}
> SECOND:«#include»: the header 02_second_one.h needs a heading {#header-second-one}, by which

{#header-second-one} → {#header-second-one}↵↵[](#nowhere)
> OWN:«nowhere»: the link #nowhere leads nowhere: no heading, figure or exercise has this id

 A **note**. → ↵↵### Deeper↵↵A **note**.
> BOOK:«[note]»: the glossary leads to #a-section for "note", but **note**, or its plural, does

| [note](#a-section) → | [note](#a-section) | x |↵| [note](#there)
> BOOK:«(#there) | third»: the id term-note is taken: BOOK:«[note](#a-section)» has it
