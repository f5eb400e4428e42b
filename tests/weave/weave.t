#!/usr/bin/env perl
# The weaver: a small book is woven and read; then each fault that an author can
# make is planted in it and must be reported, at its line, without harm to the
# book that was there before.

use strict;
use warnings;
use utf8;
use open qw(:std :encoding(UTF-8));
use Compress::Zlib qw(uncompress);
use Cwd qw(abs_path);
use Encode qw(decode_utf8);
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use FindBin qw($Bin);
use MIME::Base64 qw(decode_base64);
use Test::More;
use Wait qw(wait_until);

plan skip_all => 'PANDOC is not set: make test-book sets it' if !$ENV{PANDOC};

my $root   = tempdir(CLEANUP => 1);
my $tools  = tempdir(CLEANUP => 1); # pandocs that misbehave
# The book may lie in a folder of any name. The path of a pandoc has letters alone.
my $odd    = "$tools/Gr\xc3\xb6\xc3\x9fe [b]{c}";
my $pandoc = $ENV{PANDOC} =~ m{/} ? "$tools/pandoc" : $ENV{PANDOC};
system(qw(cp -R), "$Bin/../../tools", $odd) and die "$odd: cannot be made\n";
symlink abs_path($ENV{PANDOC}), $pandoc if $pandoc ne $ENV{PANDOC};
my $weave  = "$odd/weave/weave";
my $temp   = tempdir(CLEANUP => 1); # where the weaver keeps its scratch files
@ENV{qw(PANDOC TMPDIR)} = ($pandoc, $temp);
delete $ENV{BUILD};

# ------------------------------------------------------------------- fixture

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

Prose may say /* here, as this is no C file.

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

::: hint
Halve it.
:::
*/

#include <stdio.h>

/* What helps, and shows nothing. */
static float half(float x)
{
    return x / 2;
}
/* Shows it,
 * on a line of its own. */
static void show_half(void)
{
    puts("half");

    print_half (#L35)(half (#L14)(1));
}


// And draws it.
static void draw_half(void)
{
}

static void show_all(void);
float show = 1; /* no function */
void print_half(float x)
{
    printf("%f\n", (double)x);
}

/*
## Solutions

Nor these.
*/

int drawn; /* by what
            * comes next */
static void draw_all(const float x[4],
                     float y)
{
}

/* Not this one's. */

int main(void)
{
    return 0;
}
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
==== tools/theme/scene.svg
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

# Runs the weaver in the fixture; returns exit status and what it said.
sub weave {
    my $said = qx{cd '$root' && '$^X' '$weave' @_ 2>&1};
    return ($? >> 8) . "\n$said";
}

# All files below a folder, and their bytes, in few words.
sub bytes_of { return scalar qx{cd '$_[0]' && find . -type f | sort | xargs cksum} }

sub litter { return join ' ', grep { !m{/(book|book\.kept|figures)$} } glob "$root/build/* $temp/*" }

# What a page says: its lines of code with their numbers and indents, where links
# lead, and in brackets what folds or stands in a box.
sub said {
    my ($html) = @_;
    my %named = (lt => '<', gt => '>', quot => '"', amp => '&', '#39' => "'");
    for ($html) {
        s{^.*<main[^>]*>|</main>.*$}{}gs;
        s{(?<=counter-reset:line )(\d+)(.*?)(?=</pre>)}{
            my ($n, $lines) = ($1, $2);
            $lines =~ s|<a [^>]*aria-hidden[^>]*></a>( *)|++$n . '\|' . '·' x length $1|ge;
            "$n$lines"}gse;
        s{<nav class="turn".*?</nav>|<a class="anchor".*?</a>}{}gs;
        s{<svg.*?</svg>}{(picture)}gs;
        s{<math.*?</math>}{(formula)}gs;
        s{<a\b[^>]*?href="([^"]*)"[^>]*>(.*?)</a>}{$2 ($1)}gs;
        s{<(?:details|div)(?: class="(\w+))?[^>]*>}{'[' . ($1 // '') . ' '}ge;
        s{</(?:details|div)>}{]}g;
        s{<[^>]*>}{}g;
        s{&(lt|gt|quot|amp|#39);}{$named{$1}}g;
        s{^\s+|\s+$| (?=\])}{}g;
        s{\s+}{ }g;
    }
    return $html;
}

# ------------------------------------------------------- a good book is woven

put("$root/$_", $good{$_}) for sort keys %good;
is(weave('build/book'), "0\n", 'the book is woven silently');
is(litter(), '', 'and nothing is left beside it');

my ($book, @order) = ("$root/build/book", qw(index preface first second-one errata glossary sources reference
    book-index));
my (undef, %expected) = split /^== (\S+)\n/m, <<'END';
== index
(picture) A small book Of two chapters [invitation An invitation to read chapter 2
(second-one.html). ] Start reading (preface.html) Contents Preface (preface.html) The first part
1 First things & others (first.html) 2 Second one (second-one.html) The appendix A Mistakes
(errata.html) Glossary (glossary.html) Sources (sources.html) The headers (reference.html) Index
(book-index.html)
== preface
Preface Prose may say /* here, as this is no C file. [picture (picture) ] Figure 1. The scene
== first
Chapter 1 · chapters/01_first.c (source/01_first.c) First things & others [new New here: 1 term,
1 function [folded Terms: note (#term-note). Functions: twice (#L38). ] ] The mathematics is (formula). Somebody
said so (Known 2001 (sources.html#ref-known)).1 (#fn1) A list right before code: one two
[announced The header of this chapter: src/attention/01_first.h [listing 5|#pragma once 6|
7|/* Twice as much. */ 8|float twice (#L38)(float x); ] All headers (reference.html#header-first) ] [listing 13|#include <stdio.h> ] A section See chapter 2
(second-one.html), “A section” (first.html#a-section), figure 1.1 (first.html#fig-plot),
exercise 1.1 (first.html#exercise-1-1) and chapter 2, “There” (second-one.html#there). Appendix
A (errata.html) is 69% of it, and Preface (preface.html) too. A note. [ Exercise 1.1 (★, 2 points):
twice (#L38). Twice as much. [hint Hint 1 [folded Add it to itself. ] ] [hint Hint 2 [folded Or
multiply. ] ] [done When its tests pass [folded Now double. ] ] ] [listing exercise 1.1 (#exercise-1-1) asks for twice
36|float twice (#L38)(float x); 37|
38|float twice (reference.html#L14)(float x) 39|{ 40|····return x < 0 ? 2 * x : x + x;
/* "quoted" & more */ 41|} ] [output output twice (1) [2.0000] ] [picture (picture) ] Figure
1.1. What to see in it [question What do you expect? Will it be more? [folded Yes. ] ] [listing
Python print(2 * torch.ones(1)) ] [output make -s run-01 ARGS="'a b'" exit status 2
nothing ] Solutions [ Exercise 1.2 (★★★, challenge): thrice (#L75). Three times. ] [ Exercise 1.3 (by
hand): On paper. ] [solution Solution of exercise 1.2 [folded Like this: [listing exercise 1.2
(#exercise-1-2) asks for thrice 75|float thrice(float x) 76|{
77|····return x + twice (#L38)(x); 78|} ] That is all. ] ] [milestone Done. ] [shows The program
lines 89 to 92 [listing 89|int main(void) 90|{ 91|····return 0; 92|} ] ] Notes Defined in the
last prose of the file.↩︎ (#fnref1)
== second-one
Chapter 2 · chapters/02_second_one.c (source/02_second_one.c) Second one [new New here: 2 terms,
1 function, 2 types [folded Terms: Matrices (#term-matrix), Scores (#term-score). Functions:
second (#L18). Types: Pair (reference.html#L21), Sizes (reference.html#L26). ] ] [announced The
header of this chapter: src/attention/02_second_one.h [listing 5|/* Two of a kind. 6| * And of one
size. */ 7|typedef struct { 8|····int one, two; /* in order */ 9| 10|····float both; 11|} Pair
(reference.html#L21); 12|typedef int Sizes (reference.html#L26)[2]; 13| 14|int second (#L18)(void);
] All headers (reference.html#header-second-one) ] There Back to
chapter 1 (first.html) and chapter 1, “A section” (first.html#a-section), and its output
(first.html#fig-plot).1 (#fn1) Two scores, a note, Matrices, the Scores and score. [listing
18|int second (reference.html#L28)(void) { return 2; } ] The end, and the header: The headers,
“Chapter 1” (reference.html#header-first). It declares [listing in src/attention/02_second_one.h
5|/* Two of a kind. 6| * And of one size. */ 7|typedef struct { 8|····int one, two; /* in order */
9| 10|····float both; 11|} Pair (reference.html#L21); ] [listing in src/attention/02_second_one.h
12|typedef int Sizes (reference.html#L26)[2]; ] [listing in src/attention/02_second_one.h 5|/* Two
of a kind. 6| * And of one size. */ 7|typedef struct { 8|····int one, two; /* in order */ 9|····...
] Notes Another one of the same name.↩︎ (#fnref1)
== errata
Appendix A · chapters/A_errata.c (source/A_errata.c) Mistakes [ Exercise A.1 (★, 1 point): print_half (#L35). Half of it
(Wer 2002 (sources.html#ref-wort), 2003 (sources.html#ref-satz); 马育民 2004
(sources.html#ref-ma)). [hint Hint [folded Halve it. ] ] ] [listing 11|#include <stdio.h> 12|
13|/* What helps, and shows nothing. */ 14|static float half(float x) 15|{ 16|····return x / 2;
17|} ] [shows How this is printed lines 18 to 31 [listing 18|/* Shows it, 19| * on a line of its
own. */ 20|static void show_half(void) 21|{ 22|····puts("half"); 23| 24|····print_half (#L35)(half (#L14)(1));
25|} 26| 27| 28|// And draws it. 29|static void draw_half(void) 30|{ 31|} ] ] [listing exercise
A.1 (#exercise-A-1) asks for print_half 33|static void show_all(void);
34|float show = 1; /* no function */ 35|void print_half(float x) 36|{ 37|····printf("%f\n",
(double)x); 38|} ] Solutions Nor these. [listing 46|int drawn; /* by what 47| * comes next */ ]
[shows How this is drawn lines 48 to 51 [listing 48|static void draw_all(const float x[4],
49|·····················float y) 50|{ 51|} ] ] [listing 53|/* Not this one's. */ ] [shows The
program lines 55 to 58 [listing 55|int main(void) 56|{ 57|····return 0; 58|} ] ]
== glossary
Glossary [table Term What note (first.html#term-note) third matrix (second-one.html#term-matrix)
second score, mark (second-one.html#term-score) of it first ]
== sources
Sources [ [ Known, Ann. 2001. A Known Book. ] [ Wer. 2002. “4. Das Wort im Satz (A Word).” ] [
Wer. 2003. Sätze. ] [ 马育民. 2004. “大原理：QK 的 (Big).” ] ]
== reference
src/attention.h (source/attention.h) The headers [listing 5|#pragma once ] Chapter 1 [listing in
src/attention/01_first.h 5|#pragma once 6| 7|/* Twice as much. */ 8|float twice (first.html#L38)(float x); ]
Chapter 2 [listing in src/attention/02_second_one.h 5|/* Two of a kind. 6| * And of one size. */
7|typedef struct { 8|····int one, two; /* in order */ 9| 10|····float both; 11|} Pair; 12|typedef
int Sizes[2]; 13| 14|int second (second-one.html#L18)(void); ] Support [listing in src/support.h
5|int support; ]
== book-index
Index Where a function, type or term is introduced, and where else it is used. Functions and types
[index [ P Pair (reference.html#L21) header (reference.html#L21) ] [ S second (second-one.html#L18) 2
(second-one.html#L18) Sizes (reference.html#L26) header (reference.html#L26) support
(reference.html#L33) header (reference.html#L33) ] [ T twice (first.html#L38) 1 (first.html#L38); used
in 1 (first.html#L36) ] ] Terms
[index [ M matrix (second-one.html#term-matrix) 2 (second-one.html#term-matrix) ] [ N note
(first.html#term-note) 1 (first.html#term-note); also in 2 (second-one.html#there) ] [ S score, mark
(second-one.html#term-score) 2 (second-one.html#term-score) ] ]
END
is_deeply([sort map {m{([^/]+)\.html$}} glob "$book/*.html"], [sort @order, '404'],
    'every page is there, and no other');
my %page = map { $_ => slurp("$book/$_.html") } @order;
for my $i (0 .. $#order) {
    my ($name, $html) = ($order[$i], $page{$order[$i]});
    is(said($html), $expected{$name} =~ s/\s+/ /gr =~ s/ $//r, "$name: what the page says");
    my %leads = $html =~ m{<a rel="(prev|next)" href="([^"]*)"}g;
    is_deeply([@leads{qw(prev next)}], [map { $i && defined ? "$_.html" : undef }
        $order[$i - 1], $order[$i + 1]], "$name: the pages before and after");
    is_deeply([$html =~ m{<a href="([^"]+)" aria-current="page"}g],
        [$i ? ("$name.html") x 2 : ()], "$name: marked in the contents");
    my %count;
    is_deeply([grep { $count{$_}++ == 1 } $html =~ /\sid="([^"]*)"/g], [], "$name: its ids are unique");
}

for (
    [first => qr{<title>First things &amp; others · A small book</title>}, 'a title of its own'],
    [first => qr{<hgroup><p>Chapter 1 <span>}, 'above the heading, what it is'],
    [first => qr{<a href="first\.html#first-solutions"><span class="title">Sol},
        'its sections in the contents'],
    [first => qr{^(?!.*(?:errata-solutions|#there"><span))}s, 'and not those of others'],
    ['second-one' => qr{Previous · Chapter\xa01</span>.*Next · Appendix\xa0A</span>}s, 'what comes before and after'],
    [errata => qr{<span class="label">Next</span>}, 'and what has no number'],
    [errata => qr{<h2 id="errata-solutions">}, 'two sections of one name are told apart'],
    [sources => qr{“<span lang="de">4\. Das Wort im Satz</span> \(A Word\)}, 'a German title is said to be German'],
    [sources => qr{<em><span lang="de">Sätze</span></em>}, 'also where it has no translation'],
    [sources => qr{<span lang="zh">大原理：QK 的</span> \(Big}, 'a Chinese one to be Chinese'],
    [errata => qr{><span lang="zh">马育民</span> 2004</a>}, 'and a Chinese name, where it is cited'],
    [sources => qr{^(?!.*lang="\w+">[^<]*(?:Wer|Known))}s, 'but nothing else'],
    [errata => qr{<details class="shows">\n<summary>}, 'what only shows folds without a script'],
    [errata => qr{^(?!.*<details[^>]* open)}s, 'and is closed at first'],
    [first => qr{</ul>\s*<details class="announced">}, 'a list before code does not swallow it'],
    [first => qr{>chapter(?:\xa0|&nbsp;)2</a>}, 'a name and its number stay on one line'],
    [first => qr{A <strong><span id="term-note" class="term">note</span></strong>}, 'a term is where the glossary leads'],
    ['second-one' => qr{<strong>scores.*<strong>note<.*id="term-matrix".*>Matrices<.*id="here".*id="term-score".*>Scores</span></strong>\s+and\s+<strong>score<}s,
        'in its section, after its anchor, once'],
    [first => qr{id="L36">}, 'a line can be linked to'],
    [first => qr{id="H13">.*href="#H14"}s, 'and the header\'s lines by others'],
    ['second-one' => qr{<span class="line"><a href="reference\.html#L21" }, 'a type\'s to its own'],
    [first => qr{<figure id="fig-plot">\s*<div[^>]*>\s*<svg [^>]*labelledby="plot-t plot-d"><title id="plot-t">},
        'the picture has ids of its own, and no XML declaration'],
) {
    my ($name, $pattern, $what) = @$_;
    ok($page{$name} =~ $pattern, "$name: $what");
}

# ------------------------------------------------------------ finding one's way

# Wherever a name of the book's C leads, there it stands, and not in a comment.
{
    my (%line, @wrong, $count);
    for my $name (grep {defined} @order) {
        while ($page{$name} =~ m{id="(L\d+)"><a [^>]*></a>(.*)}g) {
            my ($id, $code) = ($1, $2);
            $line{"$name.html#$id"} = $code =~ s{<span class="co">.*?</span>|<[^>]*>}{}gr;
        }
    }
    # A struct begins above its name.
    $line{'reference.html#L21'} .= ' Pair';
    for my $name (grep {defined} @order) {
        while ($page{$name} =~ m{<a class="symbol" href="([^"]*)"[^>]*>(?:<code>)?(\w+)}g) {
            my ($to, $symbol) = ($1, $2);
            $to =~ s/^(?=#)/$name.html/;
            $count++;
            push @wrong, "$name: $symbol leads to $to" if ($line{$to} // '') !~ /\b$symbol\b/;
        }
    }
    is_deeply(\@wrong, [], 'a name leads to a line that has it');
    cmp_ok($count, '>', 20, 'and many do');
}

sub is_like { my ($text, $what, @patterns) = @_; ok($text =~ $_, "$what: $_") for @patterns }

is_like($page{'second-one'}, 'what other programs read of a page',
    qr{<meta name="description" content="Back to chapter 1 and chapter 1, “A section”, and its output\. Two},
    qr{<meta property="og:title" content="Second one">},
    qr{<link rel="icon" href="icon.svg"}, qr{^(?!.*(?:canonical|og:url|og:image))}s);
is_like($page{first}, 'the pages beside it, above the heading',
    qr{<nav class="turn".*?<a href="preface\.html">.*?Preface</a>\s*<a href="second-one\.html"><span title="Second one">Chapter\xa02<}s);
is_like($page{first}, 'a heading has its address',
    qr{<h2 id="a-section">A section<a class="anchor" href="#a-section" aria-label="[^"]+"></a></h2>});
is_like($page{first}, 'colours are chosen before anything is seen',
    qr{^.*?<script>[^<]*dataset\.theme[^<]*</script>.*<link rel="stylesheet"}s);
is_like($page{first}, 'without a version or a repository, none is said', qr{A small book\. Text and},
    qr{^(?!.*Change this page)}s);
is(slurp("$book/source/$_->[1]"), slurp("$root/$_->[0]"), "$_->[1]: the source, to download")
  for ['chapters/01_first.c', '01_first.c'], ['src/attention.h', 'attention.h'], ['src/attention/01_first.h', 'attention/01_first.h'];

my ($packed) = slurp("$book/search-index.js") =~
  m{\Aglobal\S+ \?\?= \{\};\nbook\.packed \?\?= \{\};\nbook\.packed\["search-index"\] = "([\w+/]+=*)";\n\z};
is_like(decode_utf8(uncompress(decode_base64($packed // ''))), 'what the search knows',
    qr{"pages":\[\["preface","","Preface"\],\["first","Chapter\xa01","First things & others"\]},
    qr{\[1,"a-section","A section","See chapter 2, figure 1\.1, [^"]* Will it be more\? Yes\.},
    qr{\["score, mark","second-one\.html#term-score","of it; first"\]},
    qr{^(?!.*(?:torch|i\^\{|Or multiply|2\.0000.*2\.0000)).*2\.0000}s, qr{mathematics is a_i\^\(k\+1\)\.},
    qr{\["twice","first\.html#L38","Twice as much\.","Chapter\xa01"\]},
    qr{\["Pair","reference\.html#L21","Two of a kind\. And of one size\.","02_second_one\.h"\]}, qr{^(?!.*"half)}s);
is_like(slurp("$book/symbols.js"), 'what a card shows', qr{^globalThis\.book \?\?= \{\};\nbook\.symbols = \{"Pair":},
    qr{"twice":\["float twice\(float x\);","Twice as much\.","Chapter\xa01","1"\]}, qr{^(?!.*half)}s,
    qr{"Pair":\["typedef struct \{\\n    int one, two; /\* in order \*/\\n\\n    float both;\\n\} Pair;","[^"]+","02_second_one\.h",""\]});
is_like(slurp("$book/404.html"), 'an address that leads nowhere', qr{<h1>This page is not in the book</h1>},
    qr{<title>Not found · A small book</title>}, qr{href="index\.html"}, qr{^(?!.*(?:rel="(?:prev|next)"|<!--))}s);
ok(!-e "$book/sitemap.xml", 'no site map where no address is set');

{
    put("$root/book.md", $good{'book.md'} =~ s{^lang:}{description: "All, of <it>"
version: '3.1'
address: https://example.org/it/
repository: 'https://example.org/edit/{file}'
lang:}mr);
    is(weave('build/elsewhere'), "0\n", 'woven with an address');
    my %at = map { $_ => slurp("$root/build/elsewhere/$_") } qw(index.html first.html glossary.html sources.html 404.html
        sitemap.xml);
    is_like($at{'index.html'}, 'the cover, described', qr{<meta name="description" content="All, of &lt;it&gt;">},
        qr{<link rel="canonical" href="https://example\.org/it/">}, qr{content="book"});
    is_like($at{'first.html'}, 'a page of it', qr{<link rel="canonical" href="https://example\.org/it/first\.html">},
        qr{<meta property="og:image" content="https://example\.org/it/card\.png">},
        qr{A small book, version 3\.1\.}, qr{href="https://example\.org/edit/chapters/01_first\.c">Change this page<});
    is_like($at{'sources.html'}, 'one without a paragraph is described as the book is',
        qr{<meta name="description" content="All, of &lt;it&gt;">});
    is_like($at{'glossary.html'}, 'one of book.md', qr{href="https://example\.org/edit/book\.md">Change});
    is_like($at{'404.html'}, 'at any depth', qr{<a href="https://example\.org/it/index\.html">},
        qr{<link rel="stylesheet" href="https://example\.org/it/book\.css">}, qr{href="#main"},
        qr{^(?!.*(?:href|src)="[\w-]+\.(?:html|css|js|svg)")}s);
    is_like($at{'sitemap.xml'}, 'the site map', qr{<loc>https://example\.org/it/</loc>.*<loc>https://example\.org/it/errata\.html</loc>}s,
        qr{^(?!.*404)}s);
    ok(-B "$root/build/elsewhere/card.png", 'the picture for other sites');
    remove_tree(glob "$root/build/elsewhere*");
    put("$root/book.md", $good{'book.md'});
}

{
    put("$root/build/web/programs/01.js", 'a module');
    is(weave('build/elsewhere'), "0\n", 'woven with what its pages can run');
    is(slurp("$root/build/elsewhere/programs/01.js"), 'a module', '... which lies beside them');
    is_like(slurp("$root/build/elsewhere/first.html"), 'a page that runs it', qr{ src="run\.js"}, qr{^(?!.*workbench)}s);
    is_like($page{first}, 'one where there is nothing to run', qr{ src="search\.js"}, qr{^(?!.*"(?:run|program)\.js)}s);
    remove_tree("$root/build/web", glob "$root/build/elsewhere*");
}

{
    local @ENV{qw(LC_ALL TZ)} = qw(C Asia/Tokyo);
    is(weave('build/elsewhere'), "0\n", 'woven again');
    is(bytes_of("$root/build/elsewhere"), bytes_of($book), 'it is the same book, byte for byte');
    remove_tree(glob "$root/build/elsewhere*");
}

# Another format has no folds, but all of the code, once.
sub script {
    my ($name, $text) = @_;
    put("$tools/$name", "#!/bin/sh\n$text");
    chmod 0755, "$tools/$name";
    return "$tools/$name";
}
{
    put("$tools/body.txt", '$body$');
    local $ENV{PANDOC} = script('plain', qq{$pandoc "\$@" || exit\n[ "\$1" = --version ] ||}
          . qq{ $pandoc "\$@" --to plain --template '$tools/body.txt' --output '$tools/plain.txt'\n});
    is(weave('build/elsewhere'), "0\n", 'woven as plain text');
    remove_tree(glob "$root/build/elsewhere*");
    my ($plain) = slurp("$tools/plain.txt") =~ /(Mistakes.*)/s;
    my @code = $good{'chapters/A_errata.c'} =~ s{^/\*\n.*?^\*/\n}{}gmsr =~ /^.*\S.*$/mg;
    is_deeply([grep { $plain !~ s/^ *\Q$_\E$//m } @code], [], 'no line of code is lost');
    unlike($plain, qr/half\(/, 'nor written twice');
}

# --------------------------------------------------------------------- faults

my %file = (FIRST => 'chapters/01_first.c', SECOND => 'chapters/02_second_one.c',
    BOOK => 'book.md', HEADER => 'src/attention.h', OWN => 'src/attention/02_second_one.h');
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

# What was kept would be tried first.
remove_tree("$book.kept");

# Plants each fault of __DATA__ in the first file that it fits.
for my $stanza (split /\n\n+/, do { local $/; <DATA> }) {
    my @lines = split /\n/, $stanza =~ s/\n  +/ /gr;
    my @edits = map { [split / →(?: |$)/, s/↵/\n/gr, 2] } grep { !/^>/ } @lines;
    my ($file) = grep { index($good{$_}, $edits[0][0]) >= 0 } @file{qw(FIRST SECOND BOOK OWN)};
    my $planted = $good{$file // die "fits nowhere: $stanza"};
    $planted =~ s/\Q$_->[0]\E/$_->[1]/ or die "does not fit: $stanza" for @edits;
    put("$root/$file", $planted);
    my @expected = map { s/^> //r } grep {/^>/} @lines;
    for (@expected) {
        s{(\w+):«(.*?)»([+-]\d+)?}{"$file{$1}:" . line_of($file{$1}, $2, $3)}ge;
        s{«(.*?)»([+-]\d+)?}{line_of($file, $1, $2)}ge;
        s{\b(FIRST|SECOND|BOOK|HEADER|OWN)\b}{$file{$1}}g;
        $_ = /^(.*)\.\.\.$/ ? "\Q$1\E.*" : "\Q$_\E";
    }
    like(weave('build/book'), qr/\A@{[join "\n", 1, @expected]}\n\z/, "seen: $lines[@edits]");
    unharmed('...');
    put("$root/$file", $good{$file});
}

# ------------------------------------------- a second weave, and what it spares

# Weaves after a change: the changed file alone, and the same as if woven anew.
{
    local $ENV{PANDOC} = script('counts', qq{for last; do :; done\n}
          . qq{[ -f "\$last" ] && grep -o '"bones"\\]="' "\$last" | wc -l >>$tools/spared\n}
          . qq{exec $pandoc "\$@"\n});
    my $spared = sub {
        unlink "$tools/spared";
        is(weave('build/book'), "0\n", "$_[0]: woven");
        my $said = join ' ', split ' ', slurp("$tools/spared");
        remove_tree(glob "$root/build/anew*");
        is(weave('build/anew'), "0\n", '... and anew');
        is(bytes_of("$root/build/anew"), bytes_of($book), '... the same');
        remove_tree(glob "$root/build/anew*");
        return $said;
    };
    $spared->('for the first time with this pandoc');
    is($spared->('nothing'), '', '... by no pandoc at all');
    my @changes = (
        # what, in which file, from, to, and how many files are spared, run by run
        ['a word',         'chapters/02_second_one.c', 'Back to',       'Once back to', '4'],
        ['code',           'chapters/A_errata.c',      'puts("half")',  'puts("Half")', '4'],
        ['a declaration',  'src/attention/01_first.h', 'Twice as much', 'Twice the',    '3'],
        ['a type',         'src/attention/02_second_one.h', 'Two of a kind', 'Two alike',    '0'],
        ['a heading',      'chapters/01_first.c',      'A section {',   'A part {',     '4 0'],
        ['a term',         'chapters/02_second_one.c', 'a **note**',    'a note',       '4 0'],
        ['a source',       'chapters/A_errata.c',      '@satz; @ma',    '@ma',          '4 0'],
        ['an id',          'chapters/02_second_one.c', '{#there}',      '{#there .x}',  '4 0'],
        ['the preface',    'book.md',                  'Prose may',     'Prose might',  '0'],
        ['the sources',    'book.bib',                 'A Known Book',  'A New Book',   '0'],
    );
    for my $change (@changes) {
        my ($what, $file, $from, $to, $runs) = @$change;
        my $text = $good{$file} =~ s/\Q$from\E/$to/r;
        isnt($text, $good{$file}, "$what: it is there");
        put("$root/$file", $text);
        is($spared->($what), $runs, '... with as many files spared');
        put("$root/$file", $good{$file});
        weave('build/book');
    }
    put("$root/chapters/01_first.c", $good{'chapters/01_first.c'} =~ s/\Q[](#there)/[](#nowhere)/r);
    like(weave('build/book'), qr{\A1\nchapters/01_first\.c:\d+: the link #nowhere leads nowhere.*\n\z},
        'a fault is told, and once');
    put("$root/chapters/01_first.c", $good{'chapters/01_first.c'});
    my ($drawn) = glob "$root/build/figures/01/*.svg";
    my $picture = slurp($drawn);
    put($drawn, $picture =~ s/<svg/<svg data-new="1"/r);
    is($spared->('a picture'), '4', '... with as many files spared');
    like(slurp("$book/first.html"), qr/<svg data-new="1"/, '... and it is there');
    put($drawn, $picture);
}
is(weave('build/book'), "0\n", 'and back');
is(bytes_of($book), $before, '... to where we were');

# ------------------------------------------------------------ calls and pandocs

unlink map {"$root/$_"} @file{qw(BOOK HEADER)};
is(weave('build/book'), join('', "1\n", map {"$_: cannot be read: No such file or directory\n"}
    @file{qw(BOOK HEADER)}), 'files that are not there');
put("$root/$_", $good{$_}) for @file{qw(BOOK HEADER)};
is(weave(), "1\nusage: PANDOC=/path/to/pandoc tools/weave/weave FOLDER\n", 'a call with nothing to do');
{
    local $ENV{BUILD} = 'other';
    like(weave('build/book'), qr{there is no other/figures/01/plot\.svg$}m,
        'BUILD says where the figures are');
}
for my $path ('', script('old', "echo pandoc 2.17.1.1\necho more\n"), "$tools/none") {
    local $ENV{PANDOC} = $path;
    is(weave('build/book'), "1\ntools/weave/weave: PANDOC='$path' must name a pandoc of version 3 or"
          . " later (make sees to it)\n", "refused: PANDOC='$path'");
}

# A pandoc that has written its output, says so, and is interrupted; one that fails.
{
    remove_tree("$book.kept");
    my $version = qq{case "\$*" in *--version) exec $pandoc --version; esac\n$pandoc "\$@"\n};
    local $ENV{PANDOC} = script('slow', "${version}touch $tools/started\nexec sleep 600\n");
    for my $signal (qw(INT TERM HUP)) {
        my $pid = fork // die $!;
        if (!$pid) { chdir $root; open STDERR, '>', '/dev/null'; exec $^X, $weave, 'build/book' }
        wait_until { unlink "$tools/started" } 'a pandoc at work';
        kill $signal => $pid;
        waitpid $pid, 0;
        ok($?, "$signal: the weave comes halfway and ends by it");
        unharmed($signal);
    }
    $ENV{PANDOC} = script('broken', qq{${version}echo "out of memory" >&2\nexit 251\n});
    is(weave('build/book'), "1\ntools/weave/weave: pandoc: out of memory\n", 'it is quoted');
    unharmed('a pandoc that fails');
}

# What a run that was killed has left, and the pages of a chapter that has gone.
put("$book/gone.html", 'gone');
is(weave('build/book'), "0\n", 'woven anew');
unharmed('with what is in it, and no more');

# What was kept, damaged.
unlink glob "$book.kept/pages/[fs]*.html";
is(weave('build/book'), "0\n", 'without some of what was kept');
unharmed('pages that have gone');

# Folders with names that a shell would read otherwise.
put("$root/a [b]/$_", $good{$_}) for sort keys %good;
put("$root/a [b]/build/figures/01/plot.svg", slurp("$root/build/figures/01/plot.svg"));
{
    my $said = qx{cd '$root/a [b]' && BUILD='$root/build' '$^X' '$weave' 'x[1] y' 2>&1};
    is("$?\n$said", "0\n", 'woven into a folder with an odd name');
    is(bytes_of("$root/a [b]/x[1] y"), bytes_of($book), '... the same book');
}
remove_tree("$root/a [b]");

for (['build/mine', 'letter.txt'], ['build/mine', 'index.html'], ['build/mine[1]', 'letter.txt'],
    ['build/mine', '../mine.kept/letter.txt']) {
    my ($folder, $file) = @$_;
    my $other = $file =~ /kept/ ? "$folder.kept" : $folder;
    put("$root/$folder/$file", 'Dear');
    is(weave("'$folder'"), "1\ntools/weave/weave: $other is something else than a woven book;"
          . " it would be replaced, and is not: remove it, or name another folder\n",
        "something else than a book is not replaced: $folder/$file");
    is(slurp("$root/$folder/$file"), 'Dear', 'and keeps what it has');
    remove_tree("$root/$folder", "$root/$folder.kept");
}

done_testing();

# Faults, each planted by putting what stands after "→" in the place of what stands
# before it, where ↵ is the end of a line; ">" is what must be said: FIRST:«text» has
# the number of the line that holds the text, and "..." is the rest of pandoc's own
# words.
__DATA__
[2.0000]↵``` → [2.0000]
> FIRST:«``` output»: the fence ``` output is never closed: ``` is missing before line «```
  python» opens another

Done.↵::: → Done.↵:::↵↵``` c↵x
> FIRST:«``` c»: the fence ``` c is never closed: ``` is missing before the prose ends in line
  «``` c»+2

# Sources → ``` c↵↵# Sources
> BOOK:«``` c»: the fence ``` c is never closed

Or multiply.↵::: → Or multiply.
> FIRST:«2nd:::: hint»: the div ::: hint is never closed: a line ":::" is missing

Done.↵::: → Done.↵:::↵↵More.↵:::
> FIRST:«More.»+1: ":::" closes a div that was never opened

↵::: milestone → Text.↵::: milestone
> FIRST:«::: mile»: a blank line is missing before ::: milestone

::: milestone → ::: mile stone
> FIRST:«::: mile»: this opens no div: ::: mile stone (one word or {...} must follow the colons)

::: milestone → ::: millstone
> FIRST:«::: mill»: a div of an unknown kind, millstone: there are question, hint, done, solution,
  milestone, aside, worksheet, header and workbench

Like this: → Like ::: this:
> FIRST:«Like»: ":::" is read as text: it must begin its line, and a blank line must stand
  before it

↵↵Yes. →
> FIRST:«::: question»: a question is a paragraph that asks, a blank line, and the answer

exercise="1.2" → exercise="1.9"
> FIRST:«exercise="1.9"»: a solution of exercise 1.9, which FIRST does not have

That is → That */ is
> FIRST:«That */»: prose holds "*/": That */ is all. (the prose of line «That */»-1 ends by a
  line that is only "*/")

That is → That /* is
> FIRST:«That /*»: prose holds "/*": That /* is all. (the prose of line «That /*»-1 ends by a
  line that is only "*/")

twice (1) → /* 
> FIRST:«[2.0000]»-1: prose holds "/*": /*  (the prose of line «``` output»-1 ends by a line that
  is only "*/")

Will it be **more**? → ``` c↵*/ ↵/*
> FIRST:«``` c»: the fence ``` c is never closed: ``` is missing before the prose ends in line
  «``` c»+1

of the file.↵*/ → of the file.
> FIRST:«[^late]:»-1: prose is never closed: a line that is only "*/" is missing

int main → */↵int main
> FIRST:«int main»-1: "*/" ends prose that no line "/*" opened

Like this: → --- ---↵a   b
That is all. → c   d↵--- ---
> FIRST:«float thrice»: this listing is swallowed by the prose before it: a table or the like is
  not ended there

is all. → is all.[^none]
> FIRST:«[^none]»: the footnote [^none] is not defined

Done. → Done.↵↵[^some]: More.
> FIRST:«[^some]»: the footnote [^some] is defined, but not used

That is → That [@unknown] is
> FIRST:«@unknown»: the source @unknown is cited, but not in the bibliography

That is → That $\nonsense{x}$ is
> FIRST:«\nonsense»: bad TeX: \nonsense{x}...

That is → ↵$$a =↵\frac{b$$↵
> FIRST:«a =»: bad TeX: a = ...

[](#there) → [](#where)
> FIRST:«#where»: the link #where leads nowhere: no heading, figure or exercise has this id

its output](#fig-plot → its output](#fig-plod
> SECOND:«#fig-plod»: the link #fig-plod leads nowhere: no heading, figure or exercise has this
  id

That is all → That is [all](second-one.html)
> FIRST:«second-one.html»: a link leads to #id or to a full address: not to second-one.html

That is → That [](https://example.org/) is
> FIRST:«example.org»: a link without words: [](https://example.org/)

The end, → ### It {#fig-plot}↵↵The end,
> SECOND:«{#fig-plot}»: the id fig-plot is taken: FIRST:«{#fig-plot}» has it

## Solutions → ## Solutions {#a-section}
> FIRST:«2nd:{#a-section}»: the id a-section is taken: FIRST:«{#a-section}» has it

plot.svg → plod.svg
> FIRST:1: the figure plot.svg is drawn (build/figures/01/plot.svg), but not shown
> FIRST:«plod.svg»: the figure plod.svg is shown, but not drawn: there is no
  build/figures/01/plod.svg

[](#fig-plot) → [it](#fig-plot)
![What to see in it](plot.svg){#fig-plot} → []{#fig-plot} Text.
> FIRST:1: the figure plot.svg is drawn (build/figures/01/plot.svg), but not shown

That is all. → ↵![It](plot.svg)↵
> FIRST:«2nd:plot.svg»: the figure plot.svg is shown twice: refer to it by [](#id)

plot.svg → plot.png
> FIRST:1: the figure plot.svg is drawn (build/figures/01/plot.svg), but not shown
> FIRST:«plot.png»: a figure is name.svg, drawn by the chapter: not plot.png

[](#fig-plot) → [it](#fig-plot)
![What to see in it](plot.svg){#fig-plot} → []{#fig-plot}↵↵![](plot.svg)
> FIRST:«plot.svg»: the figure plot.svg has no caption: ![What to see in it](plot.svg)

[](#fig-plot) → [it](#fig-plot)
![What to see in it](plot.svg){#fig-plot} → []{#fig-plot} See ![it](plot.svg).
> FIRST:«plot.svg»: the figure plot.svg must stand alone in its paragraph

That is → []{#spot} That [](#spot) is
> FIRST:«(#spot)»: a link without words: [](#spot) leads to what has no number and no title

scene.svg → seen.svg
> BOOK:«seen.svg»: the figure seen.svg is shown, but not drawn: there is no tools/theme/seen.svg

{#first} → {#fist}
> FIRST:2: the second line must be "# Title {#first}", not "# First things & others {#fist}"

{#first} →
> FIRST:2: the second line must be "# Title {#first}", not "# First things & others "

/*↵# First → int x;↵/*↵# First
> FIRST:1: a chapter begins with a line "/*", not with int x;

Done. → Done.↵:::↵↵# Again {#again}↵↵::: milestone
> FIRST:«# Again»: a second heading of level 1: "Again" (a file is one page; use ##)

# Sources {#sources} → # Sources
> BOOK:«# Sources»: the page "Sources" has no id: # Sources {#...}

lang: en → address: https://example.org
> BOOK:«address:»: address is https://.../, with a "/" at its end: not https://example.org

lang: en → repository: https://example.org/edit
> BOOK:«repository:»: repository is https://... with {file} where a file's path goes: not
  https://example.org/edit

first: errata → first: errors
> BOOK:«errors»: part 2 must have a title and, as first, the id of a page: not "errors"

::: {#refs}↵::: → None.
> FIRST:1: sources are cited, but no page of the book holds ::: {#refs}

`twice` → `twize`
> FIRST:«`twize`»: exercise 1.1 names the function twize, which FIRST does not define with its { and } in column 0

↵float twice(float x)↵{ → ↵float twize(float x)↵{
> FIRST:«`twice`»: exercise 1.1 names the function twice, which FIRST does not define with its { and } in column 0

`twice`. Twice → Twice
> FIRST:«Exercise 1.1»: exercise 1.1 names no function: **Exercise 2.1** (★★, 3 points): `name`.
  ...

Exercise 1.3 → Exercise 2.3
> FIRST:«Exercise 2.3»: exercise 2.3 stands in FIRST: its number must begin with 1.

(by hand): On → On
> FIRST:«Exercise 1.3»: an exercise begins like **Exercise 2.1** (★★, 3 points): `name`. ... or
  with (★★★, challenge) or (by hand): not **Exercise 1.3** On paper.

**Exercise 1.3 → - **Exercise 1.3
> FIRST:«Exercise 1.3»: an exercise begins like **Exercise 2.1** (★★, 3 points): `name`. ...

Exercise 1.3 → Exercise 1.1
> FIRST:«2nd:Exercise 1.1»: the id exercise-1-1 is taken: FIRST:«Exercise 1.1» has it

↵**Exercise 1.3 → Next:↵**Exercise 1.3
> FIRST:«Exercise 1.3»: exercise 1.3 is no paragraph of its own: a blank line is missing before it

Yes. → ~~~ c↵x↵~~~
> FIRST:«~~~ c»: a fence is three backticks in column 0, alone or before a word or {...}: not
  ~~~ c

Yes. → Yes.↵↵- ↵  ``` c↵  x↵  ```
> FIRST:«``` c»: a fence is three backticks in column 0, alone or before a word or {...}:...

Yes. → ```` c↵```↵````
> FIRST:«```` c»: a fence is three backticks in column 0, alone or before a word or {...}: not
  ```` c

Yes. → ``` c 3↵x↵```
> FIRST:«``` c 3»: a fence is three backticks in column 0, alone or before a word or {...}: not
  ``` c 3

Yes. → ``` c↵x↵````↵````
> FIRST:«``` c»: the fence ``` c is never closed: ``` is missing before line
  «``` c»+2 opens another
> FIRST:«````»: a fence is three backticks in column 0, alone or before a word or {...}: not
  ````

Yes. → Yes.↵↵    int x;
> FIRST:«int x;»: this is read as code, though no fence is around it: int x;

Yes. → Yes.↵↵--- ---↵a   b↵``` c↵x↵```↵--- ---
> FIRST:«``` c»: this fence is not read as code: what is above it does not end there

Pair Sizes → Pair Size
> SECOND:«Pair Size»: no header declares a type Size: ::: {.header of="..."} names types of the
  headers that src/attention.h names

until="both" → until="neither"
> SECOND:«neither»: the type Pair has no line with "neither"

.header of="Pair Sizes" → .header
> SECOND:«.header»: no header declares a type ?: ::: {.header of="..."} names types of the
  headers that src/attention.h names

Pair Sizes"}↵ → Pair"}↵↵Text.↵↵
> SECOND:«Pair»: a div .header is empty: the declarations take its place

header-second-one} → header-second}
> SECOND:«#include»: the header 02_second_one.h needs a heading {#header-second-one}, by which the
  page shows it

{#header-second-one} → {#header-second-one}↵↵[](#nowhere)
> OWN:«nowhere»: the link #nowhere leads nowhere: no heading, figure or exercise has this id

 A **note**. → ↵↵### Deeper↵↵A **note**.
> BOOK:«[note]»: the glossary leads to #a-section for "note", but **note**, or its plural, does
  not stand there before the next heading: FIRST:«{#a-section}»

the **Scores** and **score** → the **scored** and score
> BOOK:«[score»: the glossary leads to #here for "score", but **score**, or its plural, does
  not stand there before the next heading: SECOND:«{#here}»

[note](#a-section) → [note](#b-section)
> BOOK:«[note]»: the link #b-section leads nowhere: no heading, figure or exercise has this id

| [note](#a-section) → | [note](#a-section) | x |↵| [note](#there)
> BOOK:«(#there) | third»: the id term-note is taken: BOOK:«[note](#a-section)» has it

[note](#a-section) → note
> BOOK:«| note»: a row of the glossary begins with a link to the section that introduces the
  term: [term](#id)
