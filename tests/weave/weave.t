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
bibliography: book.bib
address: https://example.org/it
repository: https://github.com/an/it
link-citations: true
parts:
  - title: The first part
    first: first
  - title: The rest
    first: glossary
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
@online{wort, author = {{Wer}}, title = {\foreignlanguage{ngerman}{Das Wort} (A Word)}, year = {2002}, langid = {german}}
@online{ma, author = {马育民}, title = {大原理：QK 的 (Big)}, year = {2004}, langid = {chinese}}
==== chapters/01_first.c
/*
# First things & others {#first}

The mathematics is $a_i^{k+1}$. Somebody said so [@wort; @ma].[^late]
*/

#include "attention/01_first.h"
#include <stdio.h>

/*
## A section {#a-section}

See [](#second-one), [](#a-section), [](#fig-plot), [](#exercise-1-1) and
[](#there). [](#second-one) is [69%]{.cited} of it, and [](#preface) too. A **note**.

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

``` {.output args="'a b'" status=2}
nothing
```

**Exercise 1.2** (by hand): On paper.

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

/* folded: how this is printed */
static void show_half(void)
{
    puts("half");
}

/*
All of it:
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

## Solutions
*/
==== src/attention.h
/*
# The headers {#reference}
*/

#include "attention/01_first.h"
#include "attention/02_second_one.h"
==== src/attention/01_first.h
/*
## Chapter 1 {#header-first}
*/

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
==== build/figures/01/plot.svg
<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" width="300" height="100"
 aria-labelledby="t d"><title id="t">T</title><desc id="d">D</desc></svg>
==== build/web/programs/01.js
a module
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
sub litter { return join ' ', grep { !m{/(book|figures|web)$} } glob "$root/build/* $temp/*" }

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
my @order = qw(index preface first second-one glossary sources reference book-index);
is_deeply([sort map {m{([^/]+)\.html$}} glob "$book/*.html"], [sort @order], 'it has these pages');
for (
    [index => qr{invitation.*<a href="second-one\.html"[^>]*>chapter.2</a>.*The first part.*First things.*The rest.*Glossary}s, 'the parts'],
    [first => qr{<title>First things &amp; others · A small book</title>.*<hgroup><p>Chapter 1 <span>.*href="source/01_first\.c"}s, 'its kind and file'],
    [first => qr{href="sources\.html#ref-wort"[^>]*>Wer 2002</a>.*<span lang="zh">马育民</span> 2004</a>}s, 'sources'],
    [first => qr{<section id="footnotes".*Defined in the last prose}s, 'a footnote that code parts'],
    [first => qr{figure.1\.1</a>.*exercise.1\.1</a>.*“There”</a>\.\s+<a[^>]*>Chapter.2<}s, 'words of references'],
    [first => qr{Hint 1</span>.*Hint 2</span>.*When its tests pass</span>}s, 'hints in their order'],
    [first => qr{class="note"><a href="#exercise-1-1">exercise 1\.1</a> asks for\s+<code>twice</code>}, 'whose it is'],
    [first => qr{id="L33"><a [^>]*></a>.*href="reference\.html#L10"[^>]*>twice</a>}, 'a definition, to its header'],
    [first => qr{<svg [^>]*labelledby="plot-t plot-d"><title id="plot-t">}, 'a picture with ids of its own'],
    [first => qr{ARGS=&quot;&#39;a b&#39;&quot;|ARGS="'a b'"}, 'how a program was run'],
    [first => qr{What do you expect\?</span> Will it be <strong>more}, 'a question that folds'],
    [first => qr{<summary><span class="label">How this is printed<.*<summary>.*The program<.*lines 8\d to 8\d}s, 'what is folded'],
    ['second-one' => qr{<details class="announced">.*id="H\d+">.*Pair}s, 'the header of a chapter'],
    ['second-one' => qr{<strong>scores.*id="term-matrix".*>Matrices<.*id="here".*id="term-score"}s, 'terms'],
    ['second-one' => qr{<h2 id="second-one-solutions">}, 'a section that has no id gets one'],
    [glossary => qr{first\.html#term-note".*#term-matrix".*#term-score"}s, 'in the order of the book'],
    [sources => qr{“<span lang="de-DE">Das Wort</span> \(A Word\)}, 'a title is said to be German'],
    [reference => qr{in src/attention/02_second_one\.h</p>.*href="second-one\.html#L17"}s, 'the headers'],
    [first => qr{rel="canonical" href="https://example\.org/it/first\.html".* src="run\.js".*/edit/main/chapters/01_first\.c">Change}s, 'its address'],
    [preface => qr{Take <a href="https://github\.com/an/it">the files</a>.*latest/download/attention-in-c\.epub">EPUB<}s, 'where files are'],
    ['book-index' => qr{<code>twice</code></a>.*used in <a href="first\.html#L31"}, 'the index'],
) {
    my ($name, $pattern, $what) = @$_;
    like(slurp("$book/$name.html"), $pattern, "$name: $what");
}
like(slurp("$book/symbols.js"), qr{"twice":\["float twice\(float x\);","Twice as much\.","Chapter\xa01","1"\]}, 'what a card shows');

# --------------------------------------------------------------------- faults

my $before = bytes_of($book);
sub unharmed { ok(bytes_of($book) eq $before && litter() eq '', "$_[0]: does no harm") }

# Puts edits into the first file that they fit. Returns the file.
sub plant {
    my @edits = map { [split / →(?: |$)/, s/↵/\n/gr, 2] } split / ∧ /, $_[0];
    my ($file) = grep { index($good{$_}, $edits[0][0]) >= 0 }
      qw(chapters/01_first.c chapters/02_second_one.c book.md src/attention/02_second_one.h);
    my $planted = $good{$file // die "fits nowhere: $_[0]"};
    $planted =~ s/\Q$_->[0]\E/$_->[1]/ or die "does not fit: $_[0]" for @edits;
    put("$root/$file", $planted);
    return $file;
}

while (my $fault = <DATA>) {
    my ($edits, $message) = $fault =~ /^(.*?) ⇒ (.*)/ or die "what is this? $fault";
    my $file = plant($edits);
    is(weave('build/book'), "1\n$message\n", "seen: $edits");
    unharmed('...');
    put("$root/$file", $good{$file});
}

# ------------------------------------------------------------ calls and pandocs

is(weave(), "1\nusage: PANDOC=/path/to/pandoc tools/weave/weave FOLDER\n", 'refused: no folder');
like(weave('build/it.epub'), qr/\A1\n\S+ there is no build\/it-cover\.png/, 'refused: an EPUB without its cover');
{
    local $ENV{PANDOC} = '';
    is(weave('build/book'), "1\ntools/weave/weave: PANDOC must name a pandoc (make sees to it)\n", 'refused: no pandoc');
}
put("$root/build/mine/letter.txt", 'Dear');
like(weave('build/mine'), qr/\A1\n\S+ build\/mine is something else than a woven book/, 'refused: another folder');
is(slurp("$root/build/mine/letter.txt"), 'Dear', '... which keeps what it has');
remove_tree("$root/build/mine");

# One pandoc fails; another is interrupted when it has written its output.
my $version = qq{case "\$*" in *--version) exec $pandoc --version; esac\n$pandoc "\$@"\n};
$ENV{PANDOC} = script('broken', qq{${version}echo "out of memory" >&2\nexit 251\n});
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

done_testing();

# Each line is a fault: what stands after "→" takes the place of what stands before it, where
# ↵ is the end of a line; and all that the weaver must say.
__DATA__
[2.0000]↵``` → [2.0000] ⇒ chapters/01_first.c:39: the fence ``` output is never closed: ``` is missing before line 51 opens another
Or multiply.↵::: → Or multiply. ⇒ chapters/01_first.c:22: the div ::: hint is never closed: a line ":::" is missing
Done.↵::: → Done.↵:::↵↵More.↵::: ⇒ chapters/01_first.c:76: ":::" closes a div that was never opened
↵::: milestone → Text.↵::: milestone ⇒ chapters/01_first.c:71: a blank line is missing before ::: milestone
::: milestone → ::: mile stone ⇒ chapters/01_first.c:71: this opens no div: ::: mile stone (one word or {...} must follow the colons)
::: milestone → ::: millstone ⇒ chapters/01_first.c:71: a div of an unknown kind, millstone: there are question, hint, done, solution, milestone, header and workbench
Like this: → Like ::: this: ⇒ chapters/01_first.c:59: ":::" is read as text: it must begin its line, and a blank line must stand before it
↵↵Yes. → ⇒ chapters/01_first.c:46: a question is a paragraph that asks, a blank line, and the answer
exercise="1.2" → exercise="1.9" ⇒ chapters/01_first.c:58: a solution of exercise 1.9, which chapters/01_first.c does not have
That is → That */ is ⇒ chapters/01_first.c:68: prose holds "*/": That */ is all. (the prose of line 67 ends by a line that is only "*/")
of the file.↵*/ → of the file. ⇒ chapters/01_first.c:91: prose is never closed: a line that is only "*/" is missing
int main → */↵int main ⇒ chapters/01_first.c:86: "*/" ends prose that no line "/*" opened
Like this: → --- ---↵a   b ∧ That is all. → c   d↵--- --- ⇒ chapters/01_first.c:63: this listing is swallowed by the prose before it: a table or the like is not ended there
is all. → is all.[^none] ⇒ chapters/01_first.c:68: the footnote [^none] is not defined
Done. → Done.↵↵[^some]: More. ⇒ chapters/01_first.c:74: the footnote [^some] is defined, but not used
That is → That [@unknown] is ⇒ chapters/01_first.c:68: the source @unknown is cited, but not in the bibliography
That is → That $\nonsense{x}$ is ⇒ chapters/01_first.c:68: bad TeX: \nonsense{x} (unexpected control sequence \nonsense)
[](#there) → [](#where) ⇒ chapters/01_first.c:14: the link #where leads nowhere: no heading, figure or exercise has this id
That is all → That is [all](second-one.html) ⇒ chapters/01_first.c:68: a link leads to #id or to a full address: not to second-one.html
That is → That [](https://example.org/) is ⇒ chapters/01_first.c:68: a link without words: [](https://example.org/)
The end, → ### It {#fig-plot}↵↵The end, ⇒ chapters/02_second_one.c:21: the id fig-plot is taken: chapters/01_first.c:44 has it
That is all. → ↵![It](plod.svg)↵ ⇒ chapters/01_first.c:69: the figure plod.svg is shown, but not drawn: there is no build/figures/01/plod.svg
[](#fig-plot) → [it](#fig-plot) ∧ ![What to see in it](plot.svg){#fig-plot} → []{#fig-plot} Text. ⇒ chapters/01_first.c:1: the figure plot.svg is drawn (build/figures/01/plot.svg), but not shown
That is all. → ↵![It](plot.svg)↵ ⇒ chapters/01_first.c:69: the figure plot.svg is shown twice: refer to it by [](#id)
[](#fig-plot) → [it](#fig-plot) ∧ ![What to see in it](plot.svg){#fig-plot} → []{#fig-plot}↵↵![](plot.svg) ⇒ chapters/01_first.c:46: the figure plot.svg has no caption: ![What to see in it](plot.svg)
[](#fig-plot) → [it](#fig-plot) ∧ ![What to see in it](plot.svg){#fig-plot} → []{#fig-plot} See ![it](plot.svg). ⇒ chapters/01_first.c:44: the figure plot.svg must stand alone in its paragraph
That is → []{#spot} That [](#spot) is ⇒ chapters/01_first.c:68: a link without words: [](#spot) leads to what has no number and no title
scene.svg → seen.svg ⇒ book.md:19: the figure seen.svg is shown, but not drawn: there is no build/figures/page/seen.svg
{#first} → {#fist} ⇒ chapters/01_first.c:2: the second line must be "# Title {#first}", not "# First things & others {#fist}"
/*↵# First → int x;↵/*↵# First ⇒ chapters/01_first.c:1: a chapter begins with a line "/*", not with int x;
Done. → Done.↵:::↵↵# Again {#again}↵↵::: milestone ⇒ chapters/01_first.c:75: a second heading of level 1: "Again" (a file is one page; use ##)
# Sources {#sources} → # Sources ⇒ book.md:29: the page "Sources" has no id: # Sources {#...}
link-citations: true → aliases:↵  there: here↵  nowhere: it, too ⇒ book.md:8: the names for #nowhere lead nowhere: no heading, term or figure has this id
first: glossary → first: errors ⇒ book.md:11: part 2 must have a title and, as first, the id of a page: not "errors"
::: {#refs}↵::: → None. ⇒ chapters/01_first.c:1: sources are cited, but no page of the book holds ::: {#refs}
`twice` → `twize` ⇒ chapters/01_first.c:16: exercise 1.1 names the function twize, which chapters/01_first.c does not define with its { and } in column 0
float twice(float x);↵↵ → /* folded: how this is drawn */↵ ⇒ chapters/01_first.c:16: exercise 1.1 asks for twice, which is folded
float thrice → /* folded: how it looks */↵float thrice ⇒ chapters/01_first.c:62: a mark is one of /* folded: how this is drawn */, /* folded: how this is printed */, /* folded: how this is trained */, /* unfolded */: not /* folded: how it looks */
    return x + → /* unfolded */↵    return x + ⇒ chapters/01_first.c:64: this mark changes nothing: /* unfolded */
    return x + →     // folded↵    return x + ⇒ chapters/01_first.c:64: a mark is one of /* folded: how this is drawn */, /* folded: how this is printed */, /* folded: how this is trained */, /* unfolded */: not     // folded
int main → /* folded: how this is printed */↵int main ⇒ chapters/01_first.c:86: this mark changes nothing: /* folded: how this is printed */
/*↵[^late] → /* folded: how this is drawn */↵/*↵[^late] ⇒ chapters/01_first.c:91: this mark changes nothing: /* folded: how this is drawn */
int second(void); → /* folded: how this is drawn */↵int second(void); ⇒ src/attention/02_second_one.h:14: this mark changes nothing: /* folded: how this is drawn */
`twice`. Twice → Twice ⇒ chapters/01_first.c:16: exercise 1.1 names no function: **Exercise 2.1** (★★, 3 points): `name`. ...
Exercise 1.2 → Exercise 2.2 ⇒ chapters/01_first.c:56: exercise 2.2 stands in chapters/01_first.c: its number must begin with 1.
(by hand): On → On ⇒ chapters/01_first.c:56: an exercise begins like **Exercise 2.1** (★★, 3 points): `name`. ... or with (★★★, challenge) or (by hand): not **Exercise 1.2** On paper.
↵**Exercise 1.2 → Next:↵**Exercise 1.2 ⇒ chapters/01_first.c:56: exercise 1.2 is no paragraph of its own: a blank line is missing before it
Yes. → ~~~ c↵x↵~~~ ⇒ chapters/01_first.c:49: a fence is three backticks in column 0, alone or before a word or {...}: not ~~~ c
Yes. → Yes.↵↵    int x; ⇒ chapters/01_first.c:51: this is read as code, though no fence is around it: int x;
Yes. → Yes.↵↵--- ---↵a   b↵``` c↵x↵```↵--- --- ⇒ chapters/01_first.c:53: this fence is not read as code: what is above it does not end there
until="both" → until="neither" ⇒ chapters/02_second_one.c:26: the type Pair has no line with "neither"
.header of="Pair Sizes" → .header ⇒ chapters/02_second_one.c:23: no header declares a type ?: ::: {.header of="..."} names types of the headers that src/attention.h names
Pair Sizes"}↵ → Pair"}↵↵Text.↵↵ ⇒ chapters/02_second_one.c:23: a div .header is empty: the declarations take its place
header-second-one} → header-second} ⇒ chapters/02_second_one.c:5: the header 02_second_one.h needs a heading {#header-second-one}, by which the page shows it
{#header-second-one} → {#header-second-one}↵↵[](#nowhere) ⇒ src/attention/02_second_one.h:4: the link #nowhere leads nowhere: no heading, figure or exercise has this id
 A **note**. → ↵↵### Deeper↵↵A **note**. ⇒ book.md:27: the glossary leads to #a-section for "note", but **note**, or its plural, does not stand there before the next heading: chapters/01_first.c:11
| [note](#a-section) → | [note](#a-section) | x |↵| [note](#there) ⇒ book.md:28: the id term-note is taken: book.md:27 has it
