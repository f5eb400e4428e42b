#!/usr/bin/perl
# The weaver: a small book is woven and read; then each fault that an author can
# make is planted in it and must be reported, at its line, without harm to the
# book that was there before.

use strict;
use warnings;
use Cwd qw(abs_path);
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use FindBin qw($Bin);
use Test::More;

plan skip_all => 'PANDOC is not set: make test-book sets it' if !$ENV{PANDOC};

my $weave  = abs_path("$Bin/../tools/weave");
my $pandoc = $ENV{PANDOC} =~ m{/} ? abs_path($ENV{PANDOC}) : $ENV{PANDOC};
$ENV{PANDOC} = $pandoc;
delete $ENV{BUILD};

my $root  = tempdir(CLEANUP => 1);
my $tools = tempdir(CLEANUP => 1);    # pandocs that misbehave
my $temp = tempdir(CLEANUP => 1);    # where the weaver keeps its scratch files
$ENV{TMPDIR} = $temp;

# ------------------------------------------------------------------- fixture

my %good;

$good{'book.md'} = <<'END';
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

# Sources {#sources}

::: {#refs}
:::
END

$good{'book.bib'} = <<'END';
@book{known, author = {Known, Ann}, title = {A Known Book}, year = {2001}}
END

$good{'chapters/01_first.c'} = <<'END';
/*
# First things & others {#first}

The mathematics is $a^2$. Somebody said so [@known].[^late]

A list right before code:

- one
- two
*/

#include "attention.h"
#include <stdio.h>

/*
## A section {#a-section}

See [](#second-one), [](#a-section), [](#fig-plot), [](#exercise-1-1) and
[](#there). [](#errata) is [69%]{.cited} of it, and [](#preface) too.

**Exercise 1.1** (★, 2 points): `twice`. Twice as much.

::: hint
Add it to itself.
:::

::: hint
Or multiply.
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

**Exercise 1.3** (by hand). On paper.

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
END

$good{'chapters/02_second_one.c'} = <<'END';
/*
# Second *one* {#second-one}

*/
#include "attention.h"
/*

## There {#there}

Back to [](#first) and [](#a-section), and [its output](#fig-plot).[^late]

[^late]: Another one of the same name.
*/


int second(void) { return 2; }


/*
The end, and the header: [](#header-first).
*/
END

$good{'chapters/A_errata.c'} = <<'END';
/*
# Mistakes {#errata}

None yet.

## Solutions

Nor these.
*/
END

$good{'src/attention.h'} = <<'END';
/*
# The header {#reference}
*/

#ifndef ATTENTION_H

/*
## Chapter 1 {#header-first}
*/

/* Twice as much. */
float twice(float x);

/*
## Chapter 2 {#header-second-one}
*/

int second(void);

/*
## Support {#header-support}
*/

int support;
#endif
END

my $svg = <<'END';
<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" role="img" width="300" height="100"
 viewBox="0 0 300 100" aria-labelledby="t d"><title id="t">T</title>
<desc id="d">D</desc><rect id="r" width="9" height="9"/></svg>
END
$good{'build/figures/01/plot.svg'} = $svg;
$good{'tools/theme/scene.svg'}     = $svg;

# ------------------------------------------------------------------- helpers

sub slurp { open my $f, '<:raw', $_[0] or return ''; local $/; my $t = <$f>; $t // '' }

sub put {
    my ($name, $text) = @_;
    my ($folder) = "$root/$name" =~ m{^(.*)/};
    make_path($folder);
    open my $f, '>:raw', "$root/$name" or die "$root/$name: $!";
    print $f $text;
    close $f;
}

# Runs the weaver in the fixture; returns exit status and what it said.
sub weave {
    my (@arguments) = @_;
    my $pid = open my $from, '-|';
    if (!$pid) {
        open STDERR, '>&', \*STDOUT;
        exec $^X, $weave, '--root', $root, @arguments;
    }
    local $/;
    my $said = <$from> // '';
    close $from;
    return ($? >> 8, $said);
}

# All files below a folder with their bytes, as one string to compare.
sub bytes_of {
    my ($folder) = @_;
    my $all = '';
    for my $path (sort glob "$folder/*") {
        (my $name = $path) =~ s{.*/}{};
        $all .= -d $path ? "$name/\n" . bytes_of($path) : "$name\n" . slurp($path);
    }
    return $all;
}

sub litter { return join ' ', grep { !m{/(book|figures)$} } glob "$root/build/* $temp/*" }

# The number of the line that holds a text.
sub line_of {
    my ($name, $text, $nth) = @_;
    $nth //= 1;
    my $number = 0;
    for (split /\n/, slurp("$root/$name")) {
        $number++;
        return $number if index($_, $text) >= 0 && !--$nth;
    }
    die "$name has no line with $text";
}

sub text_of {
    my ($html) = @_;
    $html =~ s/<[^>]*>//g;
    my %named = (lt => '<', gt => '>', quot => '"', amp => '&', '#39' => "'");
    $html =~ s/&(lt|gt|quot|amp|#39);/$named{$1}/g;
    return $html;
}

# ------------------------------------------------------- a good book is woven

put($_, $good{$_}) for sort keys %good;
my @chapters = sort grep {m{^chapters/}} keys %good;

for my $file (@chapters, 'book.md', 'src/attention.h') {
    is_deeply([weave('--lint', $file)], [0, ''], "$file passes the lint silently");
}
is_deeply([weave('--to', 'build/book')], [0, ''], 'the book is woven silently');
is(litter(), '', 'and nothing is left beside it');

my $book = "$root/build/book";
my @order = qw(index preface first second-one errata sources reference);
is_deeply([sort map {m{([^/]+)\.html$}} glob "$book/*.html"], [sort @order],
    'every page is there, and no other');
my %page = map { $_ => slurp("$book/$_.html") } @order;

for my $i (1 .. $#order) {
    my $html = $page{$order[$i]};
    my ($previous) = $html =~ m{<a rel="prev" href="([^"]*)"};
    my ($next)     = $html =~ m{<a rel="next" href="([^"]*)"};
    is($previous, "$order[$i - 1].html", "$order[$i]: the page before it");
    is($next, $i < $#order ? $order[$i + 1] . '.html' : undef,
        "$order[$i]: and the one after");
    my @current = $html =~ m{<a href="([^"]+)" aria-current="page"}g;
    is_deeply(\@current, [("$order[$i].html") x 2], "$order[$i]: marked in the contents");
}
like($page{first}, qr{<title>First things &amp; others · A small book</title>},
    'a page has its own title');
my ($heading) = $page{first} =~ m{(<hgroup>.*?</hgroup>)}s;
is(text_of($heading), "Chapter 1 · chapters/01_first.c\nFirst things & others\n",
    'and says above its heading what it is');
like($page{errata}, qr{<hgroup><p>Appendix A }, 'so does an appendix');
unlike($page{preface}, qr{<hgroup>}, 'a page without number has no such line');

# Sections of the page itself stand in its contents, others' do not.
like($page{first}, qr{<a href="first\.html#first-solutions"><span class="title">Sol},
    'the contents have the sections of the page');
unlike($page{first}, qr{errata-solutions|#there"><span}, 'and not those of others');
like($page{errata}, qr{<h2 id="errata-solutions">},
    'two sections of one name are told apart');

my ($contents) = $page{index} =~ m{(<nav class="contents".*?</nav>)}s;
is(join('|', map { s/^\s+|\s+$//gr } grep {/\S/} split /\n/, text_of($contents)),
    'Contents|Preface|The first part|1 First things & others|2 Second one|The appendix|'
      . 'A Mistakes|Sources|The header', 'the title page has the contents by parts');
like($page{index}, qr{An invitation to read <a\s+href="second-one\.html(?:#second-one)?"},
    'and the invitation of book.md, whose link leads to its page');

# ------------------------------------------------------------------ references

my $text = text_of($page{first});
$text =~ s/\s+/ /g;
like($text, qr{See chapter 2, “A section”, figure 1\.1, exercise 1\.1 and},
    'references to chapter, section, figure and exercise');
like($text, qr{chapter 2, “There”\. Appendix A is 69% of it, and Preface},
    'to another chapter\'s section, at the beginning of a sentence, to the preface');
like($page{first}, qr{<a href="second-one\.html#there">},
    'a link to another page\'s section');
like($page{'second-one'}, qr{<a href="first\.html#fig-plot">its output</a>},
    'a reference with words keeps them');
like($page{'second-one'}, qr{The header, “Chapter 1”}, 'a section of the header');
like($page{first}, qr{<a\s+href="sources\.html#ref-known"},
    'a citation leads to the sources');
like($page{sources}, qr{A Known Book}, 'which have the book');

# ------------------------------------------------------------------------ code

for my $file (@chapters, 'src/attention.h') {
    my $id = {'src/attention.h' => 'reference'}->{$file}
      // $file =~ s{^.*?_(.*)\.c$}{$1 =~ tr/_/-/r}er;
    my @lines = split /\n/, $good{$file};
    my %shown = $page{$id} =~ m{<span class="line" id="L(\d+)"><a.*?></a>(.*)</span>$}mg;
    my $same = grep { text_of($shown{$_}) eq $lines[$_ - 1] } keys %shown;
    is($same, scalar(keys %shown), "$id: line numbers are those of $file");
    my ($prose, @code) = (0);
    for my $n (1 .. @lines) {
        if    ($lines[$n - 1] eq '/*') { $prose = 1 }
        elsif ($lines[$n - 1] eq '*/') { $prose = 0 }
        elsif (!$prose && $lines[$n - 1] =~ /\S/ && ($id eq 'reference'
            || $lines[$n - 1] !~ /^#include/)) { push @code, $n }
    }
    is(join(' ', grep { $shown{$_} ne '' } sort { $a <=> $b } keys %shown), "@code",
        "$id: all the code is shown, and nothing else");
}
like($page{first}, qr{<li>two</li>\s*</ul>\s*<details class="announced">},
    'a list right before code does not swallow it');
my ($header) = $page{first} =~ m{(<details class="announced">.*?</details>)}s;
is(text_of($header), "\nWhat this chapter adds to src/attention.h\n\n/* Twice as much. */\n"
    . "float twice(float x);\n\n\nThe whole header\n",
    'where there are only includes, the chapter\'s part of the header is shown, folded');
like($header, qr{id="H11".*id="H12"}s, 'with the header\'s line numbers');
like($page{'second-one'}, qr{id="H18".*?int.*? second},
    'the same without blank lines around');
my ($marked) = $page{first} =~ m{(<div class="listing">\n<p class="note">.*?</div>)}s;
like(text_of($marked), qr{^\s*exercise 1\.1: twice is empty in the student edition\n},
    'the listing of an exercise says so');
my @ids = $page{first} =~ /\sid="([^"]*)"/g;
my %count;
is_deeply([grep { $count{$_}++ == 1 } @ids], [], 'the ids of a page are unique');

# ---------------------------------------------------------------- what is folded

my ($solution) = $page{first} =~ m{(<details class="solution">.*?</details>)}s;
like(text_of($solution), qr{Solution of exercise 1\.2.*float thrice.*That is all}s,
    'a div that spans code folds it');
like($page{first}, qr{<details class="question">\s*<summary>\s*<span class="label">What},
    'a question is folded');
like($text, qr{What do you expect\? Will it be more\? Yes\.}, 'with its answer below');
my ($exercise) = $page{first} =~ m{(<div id="exercise-1-1".*?)<div class="listing">}s;
like(text_of($exercise), qr{^\s*Exercise 1\.1 .*Hint 1\s+Add it.*Hint 2\s+Or}s,
    'the hints of an exercise are numbered');
like($exercise, qr{</details>\s*</div>\s*$}, 'and stand in its block');
like($text, qr{make -s run-01 ARGS="'a b'" exit status 2 nothing},
    'output has its command and status');
like($page{first}, qr{the same in PyTorch}, 'the python block has its label');
like($text, qr{Notes Defined in the last prose of the file}, 'a footnote defined later');
like($page{'second-one'}, qr{Another one of the same name},
    'each file has its own footnotes');
like($page{first}, qr{<math}, 'formulas are MathML');

# -------------------------------------------------------------------- figures

my ($figure) = $page{first} =~ m{(<figure id="fig-plot">.*?</figure>)}s;
like($figure, qr{<svg [^>]*aria-labelledby="plot-t plot-d"><title id="plot-t">},
    'the picture stands in the page, with ids of its own');
unlike($figure, qr{<\?xml}, 'without an XML declaration');
like(text_of($figure), qr{Figure 1\.1\.\s+What to see in it},
    'numbered, with its caption');

# ------------------------------------------------------------- again, elsewhere

{
    local $ENV{LC_ALL} = 'C';
    local $ENV{TZ}     = 'Asia/Tokyo';
    is_deeply([weave('--to', 'build/book2')], [0, ''], 'woven again');
    is(bytes_of("$root/build/book2"), bytes_of($book),
        'it is the same book, byte for byte');
    remove_tree("$root/build/book2");
}

# --------------------------------------------------------------------- faults

my %file = (FIRST => 'chapters/01_first.c', SECOND => 'chapters/02_second_one.c',
    BOOK => 'book.md');
my ($first, $second) = @file{qw(FIRST SECOND)};
my $before = bytes_of($book);

# Plants one fault (see __DATA__). Weave and lint must say exactly what is expected;
# the book and the folders must be as before.
sub try_fault {
    my ($fault) = @_;
    my ($what, $file) = @$fault{qw(what file)};
    my $planted = $good{$file};
    while (my ($from, $to) = splice @{$fault->{edits}}, 0, 2) {
        my $at = index $planted, $from;
        die "$what: $file has no $from" if $at < 0;
        substr($planted, $at, length $from) = $to;
    }
    put($file, $planted);
    my @expected = map { with_lines($_, $file) } @{$fault->{says}};

    my ($status, $said) = weave('--to', 'build/book');
    is($status, 1, "$what: fails");
    says($said, \@expected, "$what: is reported in its place");
    ($status, $said) = weave('--lint', $file);
    if ($fault->{lint}) { says($said, \@expected, "$what: the lint finds it too") }
    else                { is("$status$said", '0', "$what: not for the lint") }
    ok(bytes_of($book) eq $before && litter() eq '', "$what: does no harm");
    put($file, $good{$file});
}

sub says {
    my ($said, $expected, $name) = @_;
    my @said = split /\n/, $said;
    for my $i (0 .. $#$expected) {
        my ($start) = $expected->[$i] =~ /^(.*)\.\.\.$/ or next;
        $said[$i] = $expected->[$i] if defined $said[$i] && index($said[$i], $start) == 0;
    }
    is(join("\n", @said), join("\n", @$expected), $name);
}

# An expected message with the numbers of the lines that it names.
sub with_lines {
    my ($message, $file) = @_;
    $message =~ s{(FIRST|SECOND|BOOK):«(.*?)»([+-]\d+)?}
                 {"$file{$1}:" . numbered($file{$1}, $2, $3)}ge;
    $message =~ s{«(.*?)»([+-]\d+)?}{numbered($file, $1, $2)}ge;
    $message =~ s/\b(FIRST|SECOND|BOOK)\b/$file{$1}/g;
    return $message;
}

sub numbered {
    my ($file, $text, $offset) = @_;
    my $nth = $text =~ s/^(\d)nd:// ? $1 : 1;
    return line_of($file, $text, $nth) + ($offset // 0);
}

sub read_faults {
    my ($text) = @_;
    my @faults;
    for my $stanza (split /\n\n+/, $text) {
        $stanza =~ s/\n  +/ /g;
        my ($head, @lines) = split /\n/, $stanza;
        my ($what, $name, $links) = $head =~ /^(.*) \((\w+)(; not for the lint)?\)$/
          or die "not a fault: $head";
        my %fault = (what => $what, file => $file{$name}, lint => !$links);
        for (@lines) {
            s/↵/\n/g;
            if    (/^[-+] ?(.*)$/s) { push @{$fault{edits}}, $1 }
            elsif (/^> (.*)$/)      { push @{$fault{says}},  $1 }
            else                    { die "not a fault: $_" }
        }
        push @faults, \%fault;
    }
    return @faults;
}

my @faults = read_faults(do { local $/; <DATA> });
is(scalar @faults, 49, 'there are faults to try');
try_fault($_) for @faults;

sub at { my ($file, $text) = @_; return "$file:" . line_of($file, $text) }

# ------------------------------------------- faults that are not in one place

{
    (my $header = $good{'src/attention.h'}) =~ s/header-first/header-fist/;
    put('src/attention.h', $header);
    my $message = at($first, '#include') . ': this listing of includes only shows the'
      . " part of src/attention.h that is headed {#header-first}, and there is none\n";
    is_deeply([weave('--lint', $first)], [1, $message],
        'includes without a section of the header: the lint finds it');
    $message .= at($second, '#header-first') . ': the link #header-first leads nowhere:'
      . " no heading, figure or exercise has this id\n";
    is_deeply([weave('--to', 'build/book')], [1, $message], 'and so does the weave');
    put('src/attention.h', $good{'src/attention.h'});

    is_deeply([weave('--lint', 'chapters/09_none.c')],
        [1, "tools/weave: chapters/09_none.c: there is no such file\n"], 'no such file');
    is_deeply([weave()], [1, 'usage: PANDOC=/path/to/pandoc tools/weave [--root DIR]'
          . " (--lint FILE | --to DIR [FILES...])\n"], 'a call with nothing to do');

    local $ENV{BUILD} = 'other';
    like((weave('--lint', $first))[1], qr{there is no other/figures/01/plot\.svg$},
        'BUILD says where the figures are');
}

# ----------------------------------------------------------------------- pandoc

my $remedy = 'set PANDOC to a pandoc of version 3 or later (make does so by itself)';

sub script {
    my ($name, $text) = @_;
    open my $f, '>', "$tools/$name" or die $!;
    print $f "#!/bin/sh\n$text";
    close $f;
    chmod 0755, "$tools/$name";
    return "$tools/$name";
}

{
    local $ENV{PANDOC};
    delete $ENV{PANDOC};
    is_deeply([weave('--to', 'build/book')],
        [1, "tools/weave: PANDOC is not set: $remedy\n"], 'PANDOC unset');
    my $old = $ENV{PANDOC} = script('old', "echo pandoc 2.17.1.1\necho more\n");
    is_deeply([weave('--to', 'build/book')],
        [1, "tools/weave: PANDOC=$old is pandoc 2.17.1.1: $remedy\n"], 'PANDOC too old');
    my $none = $ENV{PANDOC} = "$tools/none";
    is_deeply([weave('--to', 'build/book')],
        [1, "tools/weave: PANDOC=$none cannot be run as pandoc: $remedy\n"], 'no pandoc');
}

# ------------------------------------------- the earlier book, whatever happens

{
    # A pandoc that has written half of its output, says so, and is interrupted.
    my $started = "$tools/started";
    my $version = qq{[ "\$1" = --version ] && exec $pandoc --version\n};
    local $ENV{PANDOC} = script('slow',
        $version . qq{$pandoc "\$@"\ntouch $started\nexec sleep 60\n});
    for my $signal (qw(INT TERM HUP)) {
        unlink $started;
        my $pid = fork // die $!;
        if (!$pid) { exec $^X, $weave, '--root', $root, '--to', 'build/book' }
        for (1 .. 200) { last if -e $started; select undef, undef, undef, 0.05 }
        ok(-e "$root/build/book.new/pages/index.html", "$signal: comes halfway");
        kill $signal => $pid;
        waitpid $pid, 0;
        isnt($? & 127, 0, "$signal: the weave ends by it");
        ok(bytes_of($book) eq $before, "$signal: the earlier book is untouched");
        is(litter(), '', "$signal: nothing is left behind");
    }
    $ENV{PANDOC} = script('broken',
        $version . qq{$pandoc "\$@"\necho "out of memory" >&2\nexit 251\n});
    is_deeply([weave('--to', 'build/book')], [1, "tools/weave: pandoc: out of memory\n"],
        'a pandoc that fails is quoted');
    ok(bytes_of($book) eq $before && litter() eq '', 'and does no harm');
}

# A run that died between its two renames has left the old book beside its place,
# and one that was killed outright its half-made book.
rename $book, "$book.old" or die $!;
put('build/book.new/pages/index.html', 'half');
put($first, 'int x;');
is((weave('--to', 'build/book'))[0], 1, 'after a crash, a weave that fails');
ok(bytes_of($book) eq $before && !-e "$book.old", 'brings the earlier book back');
put($first, $good{$first});
put('build/book.old/index.html', 'older');
is_deeply([weave('--to', 'build/book')], [0, ''],
    'after another crash, a weave that succeeds');
ok(bytes_of($book) eq $before && litter() eq '', 'makes the book, and clears up');

# Something else than a book is not replaced.
put('build/mine/letter.txt', 'Dear');
is_deeply([weave('--to', 'build/mine')], [1, 'tools/weave: --to build/mine is something'
  . ' else than a woven book; it would be replaced, and is not: remove it, or name'
  . " another folder\n"], 'another folder is not replaced');
is(bytes_of("$root/build/mine"), "letter.txt\nDear", 'and keeps what it has');

done_testing();

# Faults, each planted in a file of the fixture. "-" is replaced by "+", where ↵ is the
# end of a line; ">" is what must be said: FIRST:«text» has the number of the line that
# holds the text (2nd: the second such line), and "..." is the rest of pandoc's own words.
# Links and ids are checked over the whole book, so a lint does not find them.
__DATA__
an unclosed fence (FIRST)
- [2.0000]↵```
+ [2.0000]
> FIRST:«``` output»: the fence ``` output is never closed: ``` is missing before line
  «``` python» opens another

a fence open at the end of prose (FIRST)
- Done.↵:::
+ Done.↵:::↵↵``` c↵x
> FIRST:«``` c»: the fence ``` c is never closed: ``` is missing before the prose ends in
  line «``` c»+2

a fence open at the end of book.md (BOOK)
- # Sources
+ ``` c↵↵# Sources
> BOOK:«``` c»: the fence ``` c is never closed

an unclosed div (FIRST)
- Or multiply.↵:::
+ Or multiply.
> FIRST:«2nd:::: hint»: the div ::: hint is never closed: a line ":::" is missing

a div closed, but never opened (FIRST)
- Done.↵:::
+ Done.↵:::↵↵More.↵:::
> FIRST:«More.»+1: ":::" closes a div that was never opened

a div without a blank line before it (FIRST)
- ↵::: milestone
+ Text.↵::: milestone
> FIRST:«::: mile»: a blank line is missing before ::: milestone

a div opened by two words (FIRST)
- ::: milestone
+ ::: mile stone
> FIRST:«::: mile»: this opens no div: ::: mile stone (one word or {...} must follow the
  colons)

a div of no known kind (FIRST)
- ::: milestone
+ ::: millstone
> FIRST:«::: mill»: a div of an unknown kind, millstone: there are question, hint,
  solution, milestone, aside and worksheet

colons in the midst of text (FIRST)
- Like this:
+ Like ::: this:
> FIRST:«Like»: ":::" is read as text: it must begin its line, and a blank line must stand
  before it

a question without an answer (FIRST)
- ↵↵Yes.
+
> FIRST:«::: question»: a question is a paragraph that asks, a blank line, and the answer

the solution of no exercise (FIRST)
- exercise="1.2"
+ exercise="1.9"
> FIRST:«exercise="1.9"»: a solution of exercise 1.9, which FIRST does not have

"*/" in prose (FIRST)
- That is
+ That */ is
> FIRST:«That */»: prose holds "*/", which ends the C comment here: That */ is all. (the
  line must be "*/" alone)

"/*" in prose (FIRST)
- That is
+ That /* is
> FIRST:«That /*»: prose holds "/*": That /* is all. (prose opened in line «That /*»-1;
  end it first by a line that is only "*/")

prose within prose (FIRST)
- Done.↵:::
+ Done.↵:::↵/*
> FIRST:«Done.»+2: prose holds "/*": /* (prose opened in line «That is»-1; end it first by
  a line that is only "*/")

prose that is never closed (FIRST)
- of the file.↵*/
+ of the file.
> FIRST:«[^late]:»-1: prose is never closed: a line that is only "*/" is missing

prose closed, but not open (FIRST)
- int main
+ */↵int main
> FIRST:«int main»-1: "*/" ends prose that no line "/*" opened

code that a table swallows (FIRST)
- Like this:
+ --- ---↵a   b
- That is all.
+ c   d↵--- ---
> FIRST:«float thrice»: this listing is swallowed by the prose before it: a table or the
  like is not ended there

an undefined footnote (FIRST)
- is all.
+ is all.[^none]
> FIRST:«[^none]»: the footnote [^none] is not defined

an unused footnote (FIRST)
- Done.
+ Done.↵↵[^some]: More.
> FIRST:«[^some]»: the footnote [^some] is defined, but not used

an undefined citation (FIRST)
- That is
+ That [@unknown] is
> FIRST:«@unknown»: the source @unknown is cited, but not in the bibliography

bad TeX (FIRST)
- That is
+ That $\nonsense{x}$ is
> FIRST:«\nonsense»: bad TeX: \nonsense{x}...

bad TeX of several lines (FIRST)
- That is
+ ↵$$a =↵\frac{b$$↵
> FIRST:«a =»: bad TeX: a = ...

a broken link (FIRST; not for the lint)
- [](#there)
+ [](#where)
> FIRST:«#where»: the link #where leads nowhere: no heading, figure or exercise has this
  id

a broken link with words (SECOND; not for the lint)
- #fig-plot
+ #fig-plod
> SECOND:«#fig-plod»: the link #fig-plod leads nowhere: no heading, figure or exercise has
  this id

a link to a file (FIRST)
- That is all
+ That is [all](second-one.html)
> FIRST:«second-one.html»: a link leads to #id or to a full address: not to
  second-one.html

a link without words (FIRST)
- That is
+ That [](https://example.org/) is
> FIRST:«example.org»: a link without words: [](https://example.org/)

an id that another chapter has (SECOND; not for the lint)
- Back to
+ ### It {#fig-plot}↵↵Back to
> SECOND:«{#fig-plot}»: the id fig-plot is taken: FIRST:«{#fig-plot}» has it

an id used twice in a chapter (FIRST)
- ## Solutions
+ ## Solutions {#a-section}
> FIRST:«2nd:{#a-section}»: the id a-section is taken: FIRST:«{#a-section}» has it

a figure not drawn (FIRST)
- plot.svg
+ plod.svg
> FIRST:1: the figure plot.svg is drawn (build/figures/01/plot.svg), but not shown
> FIRST:«plod.svg»: the figure plod.svg is shown, but not drawn: there is no
  build/figures/01/plod.svg

a figure not shown (FIRST)
- [](#fig-plot)
+ [it](#fig-plot)
- ![What to see in it](plot.svg){#fig-plot}
+ []{#fig-plot} Text.
> FIRST:1: the figure plot.svg is drawn (build/figures/01/plot.svg), but not shown

a figure shown twice (FIRST)
- That is all.
+ ↵![It](plot.svg)↵
> FIRST:«2nd:plot.svg»: the figure plot.svg is shown twice: refer to it by [](#id)

a figure of another kind (FIRST)
- plot.svg
+ plot.png
> FIRST:1: the figure plot.svg is drawn (build/figures/01/plot.svg), but not shown
> FIRST:«plot.png»: a figure is name.svg, drawn by the chapter: not plot.png

an image without a caption (FIRST)
- [](#fig-plot)
+ [it](#fig-plot)
- ![What to see in it](plot.svg){#fig-plot}
+ []{#fig-plot}↵↵![](plot.svg)
> FIRST:«plot.svg»: the figure plot.svg has no caption: ![What to see in it](plot.svg)

an image within text (FIRST)
- [](#fig-plot)
+ [it](#fig-plot)
- ![What to see in it](plot.svg){#fig-plot}
+ []{#fig-plot} See ![it](plot.svg).
> FIRST:«plot.svg»: the figure plot.svg must stand alone in its paragraph

a reference to what has neither number nor title (FIRST)
- That is
+ []{#spot} That [](#spot) is
> FIRST:«(#spot)»: a link without words: [](#spot) leads to what has no number and no
  title

a figure of the preface that is not there (BOOK)
- scene.svg
+ seen.svg
> BOOK:«seen.svg»: the figure seen.svg is shown, but not drawn: there is no
  tools/theme/seen.svg

a wrong page id (FIRST)
- {#first}
+ {#fist}
> FIRST:2: the page has the id fist, by its file name it must be first

a title without id (FIRST)
- {#first}
+
> FIRST:2: the second line must be "# Title {#first}", not "# First things & others "

a chapter that begins with code (FIRST)
- /*↵# First
+ int x;↵/*↵# First
> FIRST:1: a chapter begins with a line "/*", not with int x;

a second title (FIRST)
- Done.
+ Done.↵:::↵↵# Again {#again}↵↵::: milestone
> FIRST:«# Again»: a second heading of level 1: "Again" (a file is one page; use ##)

a page of book.md without id (BOOK)
- # Sources {#sources}
+ # Sources
> BOOK:«# Sources»: the page "Sources" has no id: # Sources {#...}

a part that begins nowhere (BOOK; not for the lint)
- first: errata
+ first: errors
> BOOK:«errors»: part 2 must have a title and, as first, the id of a page: not "errors"

sources cited, but not listed (BOOK; not for the lint)
- ::: {#refs}↵:::
+ None.
> FIRST:1: sources are cited, but no page of the book holds ::: {#refs}

an exercise whose function is not there (FIRST)
- `twice`
+ `twize`
> FIRST:«`twize`»: exercise 1.1 names the function twize, which FIRST does not define

an exercise whose function is only announced (FIRST)
- ↵float twice(float x)↵{
+ ↵float twize(float x)↵{
> FIRST:«`twice`»: exercise 1.1 names the function twice, which FIRST does not define

an exercise without a function (FIRST)
- `twice`. Twice
+ Twice
> FIRST:«Exercise 1.1»: exercise 1.1 names no function: **Exercise 1.1** (★, 2 points):
  `name`. ...

an exercise of another chapter (FIRST)
- Exercise 1.3
+ Exercise 2.3
> FIRST:«Exercise 2.3»: exercise 2.3 stands in FIRST: its number must begin with 1.

an exercise without a rank (FIRST)
- (by hand). On
+ On
> FIRST:«Exercise 1.3»: an exercise begins like **Exercise 1.1** (★, 2 points): `name`.
  ... or with (★★★, challenge) or (by hand): not "Exercise 1.3 On paper."

two exercises of one number (FIRST)
- Exercise 1.3
+ Exercise 1.1
> FIRST:«2nd:Exercise 1.1»: the id exercise-1-1 is taken: FIRST:«Exercise 1.1» has it
