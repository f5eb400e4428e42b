#!/usr/bin/env perl
# Worksheets: the same seed makes the same sheets, no two of them alike; each answer
# is reckoned here in another way, from what the sheet says, and none lies where
# rounding could turn it; and on paper every sheet is one page, with room to write.

use strict;
use warnings;
use utf8;
use open qw(:std :encoding(UTF-8));
use Cwd ();
use Digest::SHA;
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use FindBin qw($Bin);
use List::Util qw(sum max);
use Chapter;
use Paper;
use Text;
use Test::More;

delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS)};
my $build   = $ENV{BUILD} // 'build';
my $program = "$build/tools/worksheet";
my $COPIES  = 200;
die "$program is not there: make $program\n" if !-x $program;
my @chapters = map { sprintf '%02d', $_ } 1 .. 14;

sub none {
    my ($name, @wrong) = @_;
    ok(!@wrong, $name) or diag(map {"  $_\n"} @wrong[0 .. ($#wrong < 9 ? $#wrong : 9)]);
}

# ------------------------------------------------------- sheets as they are told

# The sheets of a seed: code, lines, says (all words), given (rows by name), and
# answers.
sub sheets {
    my ($chapter, $seed, $copies) = @_;
    my ($lines, $status) = Chapter::run($program, "$chapter $seed $copies");
    die "@$lines\n" if $status;
    my @sheets;
    for (@$lines) {
        my ($kind, @parts) = split /\t/;
        if ($kind eq 'sheet') { push @sheets, {code => $parts[0], lines => [], says => '', answers => []}; next }
        my $sheet = $sheets[-1];
        push @{$sheet->{lines}}, $_;
        if    ($kind eq 'given')  { $sheet->{given}{$parts[0]} = [map { [split / /] } split /;/, $parts[1]] }
        elsif ($kind eq 'answer') { push @{$sheet->{answers}}, $parts[0] }
        elsif ($kind ne 'step')   { $sheet->{says} .= join(' ', @parts) . "\n" }
    }
    return @sheets;
}

# ------------------------------------------------------- answers, in another way

sub dot { my ($x, $y) = @_; return sum map { $x->[$_] * $y->[$_] } 0 .. $#$x }
sub product { my ($x, $y) = @_; my @turned = turned($y); return map { my $row = $_; [map { dot($row, $_) } @turned] } @$x }
sub turned { my ($x) = @_; return map { my $j = $_; [map { $_->[$j] } @$x] } 0 .. $#{$x->[0]} }
sub largest { my @x = @_; return (sort { $x[$b] <=> $x[$a] } 0 .. $#x)[0] + 1 }
sub softmax { my $all = sum map { exp } @_; return map { exp($_) / $all } @_ }
sub mixed { my ($weights, $value) = @_; return (product([$weights], $value))[0] }
sub numbers { my ($pattern, $says) = @_; my @found = $says =~ $pattern or die "$pattern is not in: $says"; return @found }

# The first draw from a seed, by the recipe of 1998.
sub first_draw {
    my @state = ($_[0]);
    push @state, (1812433253 * ($state[-1] ^ $state[-1] >> 30) + @state) & 0xffffffff for 1 .. 623;
    my $y = twisted(@state[0, 1, 397]);
    $y ^= $y >> 11;
    $y ^= $y << 7 & 0x9d2c5680;
    $y ^= $y << 15 & 0xefc60000;
    return $y ^ $y >> 18;
}
sub twisted {
    my ($first, $second, $far) = @_;
    my $y = $first & 0x80000000 | $second & 0x7fffffff;
    return $far ^ $y >> 1 ^ ($y & 1) * 0x9908b0df;
}

# Each returns, question by question, a number, a list, a table or a text.
my %due = (
    '01' => sub {
        my (undef, %of) = @_;
        my @scores  = map { dot($of{q}[0], $_) } @{$of{K}};
        my @lengths = map { sqrt dot($_, $_) } $of{q}[0], @{$of{K}};
        my @cosines = map { $scores[$_] / $lengths[0] / $lengths[$_ + 1] } 0 .. 2;
        return (\@scores, largest(@scores), \@lengths, \@cosines, largest(@cosines), [product($of{A}, $of{B})]);
    },
    '02' => sub {
        my (undef, %of) = @_;
        my @s = @{$of{s}[0]};
        my @less    = map { $_ - max(@s) } @s;
        my @weights = softmax(@s);
        return (\@less, sum(map { exp } @less), \@weights, \@weights, mixed(\@weights, $of{V}));
    },
    '03' => sub {
        my ($says, %of) = @_;
        my ($word) = numbers(qr/query of word (\d)/, $says);
        my ($query, $key, $value) = map { [product($of{X}, $of{$_})] } qw(W_q W_k W_v);
        my @scores  = map { dot($query->[$word - 1], $_) } @$key;
        my @weights = softmax(@scores);
        return ($query->[$word - 1], $key, $value, \@scores, \@weights, mixed(\@weights, $value));
    },
    '04' => sub {
        my ($says) = @_;
        my ($seed, $draw) = numbers(qr/seed (\d+) is `(\w{8})`/, $says);
        my $bits = hex substr $draw, 2;
        my ($low, $high) = numbers(qr/uniform_\((-?\d+), (\d+)\)/, $says);
        my @state = map { hex } numbers(qr/is `(\w{8})`, .*is `(\w{8})`, .*is `(\w{8})`/, $says);
        my $y = $state[0] & 1 << 31 | $state[1] & (1 << 31) - 1;
        my ($asked, @other) = numbers(qr/stream of seed (\d+): \(1\) (\d+), \(2\) (\d+) or \(3\) (\d+)/, $says);
        my @same = grep { ($other[$_ - 1] - $asked) % 2**32 == 0 } 1 .. 3;
        return (first_draw($seed) == hex $draw ? $bits : 'another draw', $bits / 2**24, $low + $bits / 2**24 * ($high - $low),
            (map { sprintf '%08x', $_ } $y, $y >> 1, twisted(@state)), "@same");
    },
    '05' => sub {
        my ($says, %of) = @_;
        my @words = numbers(qr/_([A-Z][\w, ]+)_/, $says);
        @words = split ' ', $words[0] =~ tr/,//dr;
        my %is; @is{@words} = ();
        my @entries = sort keys %is;
        @is{@entries} = 0 .. $#entries;
        my ($place) = numbers(qr/one-hot row of word number (\d+)/, $says);
        my ($rows, $columns) = numbers(qr/table has (\d+) rows of (\d+) entries/, $says);
        return ("@entries", [@is{@words}], [map { $of{E}[$is{$words[$_ - 1]}] } 1, 2, $place],
            [map { $_ eq $words[$place - 1] ? 1 : 0 } @entries], $rows * $columns);
    },
    '06' => sub {
        my ($says, %of) = @_;
        my @s    = @{$of{s}[0]};
        my $mean = sum(@s) / @s;
        my ($d)  = numbers(qr/have (\d+) entries each/, $says);
        my @scaled = map { $_ / sqrt $d } @{$of{t}[0]};
        my ($which, $step) = numbers(qr/behind weight (\d) were (\d) higher/, $says);
        my @behind = map { log } @{$of{w}[0]};
        $behind[$which - 1] += $step;
        return ($mean, sqrt(sum(map { $_**2 } @s) / @s - $mean**2), [softmax(@{$of{t}[0]})], \@scaled, [softmax(@scaled)],
            [softmax(@behind)]);
    },
    '07' => sub {
        my ($says, %of) = @_;
        my @made = map { dot($of{x}[0], $of{W}[$_]) + $of{b}[0][$_] } 0, 1;
        my ($d_in, $d_k, $d_v) = numbers(qr/takes (\d+) entries.* have (\d+), its values (\d+)/, $says);
        my @order = numbers(qr/order (\d), (\d), (\d), (\d)/, $says);
        my $plain = $d_in * (2 * $d_k + $d_v);
        return (\@made, [turned($of{W})], $plain, $plain + 2 * $d_k + $d_v, [map { $of{C}[$_ - 1] } @order]);
    },
    '08' => sub {
        my ($says, %of) = @_;
        my ($n, $d_x, $m, $d_y, $d_k, $d_v) = numbers(
            qr/(\d+) tokens of (\d+) entries ask (\d+) tokens of (\d+) .*have (\d+) entries, values (\d+)/, $says);
        my @scores  = map { dot($of{q}[0], $_) / 2 } @{$of{K}};
        my @weights = softmax(@scores);
        return ([$d_k, $d_y], [$n, $d_k], [$m, $d_k], [$m, $d_v], [$n, $m], [$n, $d_v], \@scores, \@weights,
            largest(@scores), mixed(\@weights, $of{V}));
    },
    '09' => sub {
        my ($says, %of) = @_;
        my @rows = map { my $i = $_; my $all = sum @{$of{A}[$i]}[0 .. $i];
            [map { $_ <= $i ? $of{A}[$i][$_] / $all : 0 } 0 .. 2] } 0 .. 2;
        my ($place) = numbers(qr{it is number (\d)}, $says);
        my @seen = softmax(@{$of{s}[0]}[0 .. $place - 1]);
        my ($m, $n) = numbers(qr/has (\d+) words, and the last (\d+) of them/, $says);
        return (@rows, [@seen, (0) x (4 - $place)], sum($m - $n + 1 .. $m), $m - $n + 1);
    },
    '10' => sub {
        my ($says, %of) = @_;
        my ($p) = numbers(qr/rate ([\d.]+) keeps/, $says);
        my @left = map { $of{w}[0][$_] * $of{m}[0][$_] / (1 - $p) } 0 .. 3;
        my ($one, $two) = @{$of{u}[0]};
        return (1 / (1 - $p), \@left, sum(@left), mixed(\@left, $of{V}), [2 * ($one + $two), 2 * $one, 2 * $two, 0], $one + $two);
    },
    '11' => sub {
        my ($says, %of) = @_;
        my (@words) = numbers(qr/have (\d+), (\d+) and (\d+) words/, $says);
        my ($d) = numbers(qr/token has (\d+) entries/, $says);
        my ($row, $short) = numbers(qr/Row (\d+) of the mask for the sentence of (\d+) words/, $says);
        my ($long) = numbers(qr/entries of the mask for the sentence of (\d+) words/, $says);
        my $n = max @words;
        my @seen = map { $_ <= $row && $_ <= $short ? 1 : 0 } 1 .. $n;
        my ($p) = numbers(qr/rate ([\d.]+) keeps/, $says);
        my @weights = (softmax(@{$of{s}[0]}[0 .. 2]), 0);
        my @left = map { $weights[$_] * $of{m}[0][$_] / (1 - $p) } 0 .. 3;
        return ([3 * $n * $d, (3 * $n - sum(@words)) * $d], \@seen, sum(map { $_ < $long ? $_ : $long } 1 .. $n),
            \@weights, \@left, mixed(\@left, $of{V}));
    },
    '12' => sub {
        my ($says, %of) = @_;
        my ($heads, $d, $d_k, $d_v, $n) = numbers(
            qr/(\d+) heads without biases take tokens of (\d+) entries; .* have (\d+), values (\d+)\. (\d+) words/, $says);
        my ($column) = numbers(qr/is column (\d+)/, $says);
        my ($one) = map { $d * $_ } 2 * $d_k + $d_v;
        my @places = map { my $h = $_; map { [$h, $_] } 1 .. $d_v } 1 .. $heads;
        return ($one, $heads * $one, $heads * $n**2, [$n, scalar @places], $places[$column - 1],
            [map { @{mixed($of{"w_$_"}[0], $of{"V_$_"})} } 1, 2]);
    },
    '13' => sub {
        my ($says, %of) = @_;
        my ($columns, $heads, $column) = numbers(qr/(\d+) columns belong to (\d+) heads.*column (\d+)\?/, $says);
        my @places = map { my $h = $_; map { [$h, $_] } 1 .. $columns / $heads } 1 .. $heads;
        my @joined = (@{$of{c_1}[0]}, @{$of{c_2}[0]});
        my ($d_in, $d_out) = numbers(qr/takes (\d+) entries and gives (\d+)/, $says);
        my $plain = 3 * $d_in * $d_out + $d_out**2 + $d_out;
        return ([map { [@$_[0, 1]] } @{$of{Q}}], [map { [@$_[4, 5]] } @{$of{Q}}], $places[$column - 1], \@joined,
            [map { dot(\@joined, $of{W}[$_]) + $of{b}[0][$_] } 0, 1], $plain, $plain + 3 * $d_out);
    },
    '14' => sub {
        my ($says, %of) = @_;
        my @s       = @{$of{s}[0]};
        my @largest = map { max @s[0 .. $_] } 0 .. 2;
        my @sums    = map { my $k = $_; sum map { exp($_ - $largest[$k]) } @s[0 .. $k] } 0 .. 2;
        my @logs    = numbers(qr/log-sum-exps are (\d) and (\d)/, $says);
        return (\@largest, \@sums, mixed([softmax(@s)], $of{V}), log(sum map { exp } @s),
            mixed([softmax(@logs)], [$of{c_1}[0], $of{c_2}[0]]), log(sum map { exp } @logs));
    },
);

# What is wrong with an answer: another number, or one on which rounding turns, with
# what may be lost on the way by who works with four digits.
sub wrong_with {
    my ($answer, $due) = @_;
    my @rows = ref $due ? ref $due->[0] ? @$due : $due : return $answer eq $due ? () : unequal($answer, $due);
    my @shown = map { [split / /] } split /;/, $answer;
    return 'has other rows' if @shown != @rows || grep { @{$shown[$_]} != @{$rows[$_]} } 0 .. $#rows;
    return map { my $i = $_; map { unequal($shown[$i][$_], $rows[$i][$_]) } 0 .. $#{$rows[$i]} } 0 .. $#rows;
}

sub unequal {
    my ($shown, $due) = @_;
    return "$shown, not $due" if "$shown $due" !~ /^-?[\d.]+(?:e-\d+)? -?[\d.]+(?:e-\d+)?$/;
    my $digits = length(($shown =~ /\.(\d+)/)[0] // '');
    return "$shown, not $due"    if abs($shown - $due) >= .5 * 10**-$digits;
    return "$shown begins with -0" if $shown =~ /^-[0.]+$/;
    my $exact = abs($due) * 10**$digits;
    return "$shown is rounded from $due" if abs($exact - int($exact) - .5) < .099;
    return;
}

is join(' ', sort keys %due), "@chapters", 'each chapter\'s answers are reckoned';
for my $chapter (@chapters) {
    my @sheets = sheets($chapter, 7, $COPIES);
    my $plain  = $chapter + 0;
    is join(' ', map { $_->{code} } @sheets), join(' ', map {"$plain-7-$_"} 1 .. $COPIES), "$chapter: each copy has its code";
    my %alike;
    push @{$alike{join "\n", @{$_->{lines}}}}, $_->{code} for @sheets, sheets($chapter, 8, $COPIES);
    none "$chapter: no two copies are alike, nor of two seeds", map {"@$_"} grep { @$_ > 1 } values %alike;
    my @few = sheets($chapter, 7, 30);
    is_deeply \@few, [@sheets[0 .. 29]], "$chapter: the same seed makes the same, of however many";
    my @wrong;
    for my $sheet (@sheets) {
        my @due = $due{$chapter}->($sheet->{says}, %{$sheet->{given} // {}});
        push @wrong, "$sheet->{code}: has " . @{$sheet->{answers}} . ' answers, not ' . @due if @due != @{$sheet->{answers}};
        for my $k (0 .. $#due) {
            push @wrong, map {"$sheet->{code}, answer " . ($k + 1) . ": $_"} wrong_with($sheet->{answers}[$k], $due[$k]);
        }
    }
    none "$chapter: all answers of $COPIES copies are right, and none is at the edge of rounding", @wrong;
}
is_deeply [wrong_with('0.12 3', [.1234, 3]), wrong_with('1 2;3 4', [[1, 2], [3, 4]]), wrong_with('a b', 'a b')], [],
  'what is right is taken for right';
for (['0.13', .1234], ['0.12', .1249], ['-0.00', -.001], ['1 2;3 4', [[1, 2], [3, 5]]], ['1 2', [1, 2, 3]], ['a', 'b']) {
    is scalar(() = wrong_with($_->[0], $_->[1])), 1, "$_->[0] is not right here";
}

# ------------------------------------------------------- tools, and what they refuse

# A build folder of its own.
my $own = tempdir(CLEANUP => 1);
make_path("$own/tools");
symlink Cwd::abs_path($program), "$own/tools/worksheet" or die "$own: $!\n";
symlink Cwd::abs_path("$build/pandoc"), "$own/pandoc" or die "$own: $!\n";

sub tool {
    my ($command) = @_;
    local $ENV{BUILD} = $own;
    local $ENV{PANDOC};
    delete $ENV{PANDOC};
    my $said = `$command 2>&1`;
    return ($? >> 8, $said);
}

for (["worksheet '' 7 3",      qr/a chapter, a seed and a number of copies are needed, as in/],
     ["worksheet 03 '' 3",     qr/a chapter, a seed/],
     ["worksheet 99 7 3",      qr/there is no worksheet for CHAPTER '99': there is one for each from 01 to 14/],
     ["worksheet 16",          qr/there is no worksheet for CHAPTER '16': there is one for each from 01 to 14/],
     ["worksheet '0*' 7 3",    qr/there is no worksheet for CHAPTER '0\*'/],
     ["worksheet 03 7 0",      qr/COPIES is '0': a whole number from 1 to 999 is needed/],
     ["worksheet 03 7 1000",   qr/COPIES is '1000': a whole number/],
     ["worksheet 03 seven 3",  qr/SEED is 'seven': a whole number from 0 to 4294967295 is needed/],
     ["worksheet 03 -1 3",     qr/SEED is '-1': a whole number/],
     ["worksheet 03 '1 2' 3",  qr/SEED is '1 2': a whole number/],
     ["worksheet 03 \"'\" 3",  qr/SEED is ''': a whole number/],
     ["worksheet 03 7 3 a9",   qr/PAPER is 'a9': a4 or us-letter is needed/],
     ["quiz ''",               qr/a chapter is needed, as in/],
     ["quiz 99",               qr/there is no chapter '99': its number is needed/],
     ["quiz '03 *'",           qr/there is no chapter '\*'/],
     ["quiz B",                qr/appendix B asks nothing: no quiz can be made of it/],
     ["quiz 99 \"a'9\"",       qr/PAPER is 'a'9': a4 or us-letter/],
     ["quiz 03 a9",            qr/PAPER is 'a9': a4 or us-letter is needed/]) {
    my ($command, $message) = @$_;
    my ($status, $said) = tool("tools/teach/$command");
    my ($name) = $command =~ /^(\w+)/;
    is $status, 2, "$command: is refused";
    like $said, qr/\Atools\/teach\/$name: $message.*\n\z/, '... in one line, with what would be right';
    is join(' ', map { s{.*/}{}r } glob "$own/*"), 'pandoc tools', '... and nothing is left behind';
}
like `make worksheet CHAPTER=16 BUILD='@{[tempdir(CLEANUP => 1)]}' PANDOC=/none 2>&1`, qr/\Atools\/teach\/worksheet: there is no worksheet for CHAPTER '16'/,
  'make says so at once';

# Typst fails, or pandoc: no sheet without its answers, no answers without sheets.
mkdir "$own/bin" or die "$own/bin: $!\n";
chmod 0755, Chapter::save("$own/bin/python3", "#!/bin/sh", "echo no typst; exit 1");
chmod 0755, Chapter::save("$own/bin/pandoc", "#!/bin/sh", "echo no sheet >&2; echo at all >&2; exit 1");
for (['worksheet 03 7 3', qr/03-7-answers\.pdf: no typst/], ['quiz 03', qr/03-quiz-answers\.pdf: no typst/], ['quiz 03', qr/no sheet/, PANDOC => "$own/bin/pandoc"],
     ['quiz 03', qr{/none cannot be run: make \Q$own\E/pandoc\.found sets up pandoc and typst}, PANDOC => '/none'],
     ['worksheet 03 7 3', qr{/none/tools/worksheet is not there: make /none/tools/worksheet makes it}, BUILD => '/none']) {
    my ($command, $message, %environment) = @$_;
    local $ENV{PATH} = "$own/bin:$ENV{PATH}";
    my ($status, $said) = tool(join ' ', (map {"$_=$environment{$_}"} keys %environment), "tools/teach/$command");
    my ($name) = $command =~ /^(\w+)/;
    is $status, 2, "$command: fails";
    like $said, qr/\Atools\/teach\/$name: $message\n\z/, '... and says in one line of what';
    is join(" ", map { s{.*/}{}r } glob "$own/*"), "bin pandoc tools", "... and nothing is left behind";
}

# ------------------------------------------------------- paper

sub needed {
    my ($what) = @_;
    die "$what\n" if $ENV{CI};
    diag "$what: what is on paper is not looked at";
    done_testing;
    exit;
}
needed('typst is not there: make sets it up') if !-x '.venv/bin/python' || system('.venv/bin/python -c "import typst" 2>/dev/null');
needed('pdftotext is not there: install poppler-utils') if system('pdftotext -v 2>/dev/null') != 0;

# pdftotext minds a flag of PDF/UA, in as many lines as it reads files.
sub pages {
    open my $errors, ">&", *STDERR or die $!;
    open STDERR, ">", "/dev/null" or die $!;
    my $pages = Paper::read_pdf(@_);
    open STDERR, ">&", $errors or die $!;
    return $pages;
}
sub plain { return Paper::squeezed($_[0] =~ s{#su(?:b|per)\[(.*?)\]}{$1}gr =~ tr{_`}{}dr =~ tr{-}{−}r) }
sub on_page { return Paper::squeezed($_[0]{text}) =~ tr{_}{}dr =~ tr{-’}{−'}r }

# How often a page has room to write in.
my ($MARGIN, $ROOM) = (39, 70);
sub rooms {
    my ($page) = @_;
    my ($end, $rooms) = (0, 0);
    for ((sort { $a->{y0} <=> $b->{y0} } @{$page->{words}}), {y0 => $page->{height} - $MARGIN, y1 => 0}) {
        $rooms++ if $end && $_->{y0} - $end >= $ROOM;
        $end = max $end, $_->{y1};
    }
    return $rooms;
}

# What is wrong with the pages of some sheets: cut, lost, or no room to write in.
sub wrong_on_paper {
    my ($pages, @sheets) = @_;
    return 'has ' . @$pages . ' pages, not ' . @sheets if @$pages != @sheets;
    my @wrong;
    for my $k (0 .. $#sheets) {
        my ($page, $sheet) = ($pages->[$k], $sheets[$k]);
        my @texts = map { my ($kind, @parts) = split /\t/; $kind =~ /task|ask/ ? @parts : () } @{$sheet->{lines}};
        push @wrong, map {"$sheet->{code}: lacks: $_"} grep { index(on_page($page), plain($_)) < 0 } $sheet->{code}, @texts;
        push @wrong, map {"$sheet->{code}: '$_->{text}' is outside of the text block"} grep {
            $_->{x0} < $MARGIN || $_->{x1} > $page->{width} - $MARGIN || $_->{y0} < $MARGIN - 5 || $_->{y1} > $page->{height} - $MARGIN
        } @{$page->{words}};
        my ($rooms, $tasks) = (rooms($page), scalar grep {/^task/} @{$sheet->{lines}});
        push @wrong, "$sheet->{code}: has room for $rooms of $tasks tasks" if $rooms != $tasks;
    }
    return @wrong;
}

sub slurp { open my $file, '<', $_[0] or die "$_[0]: $!\n"; local $/; return scalar <$file> }

for my $chapter (@chapters) {
    my @sheets = sheets($chapter, 5, 3);
    for my $paper ('us-letter', $chapter =~ /3/ ? 'a4' : ()) { # which is the longer one
        my ($status, $said) = tool("tools/teach/worksheet $chapter 5 3 $paper");
        is $status, 0, "$chapter, $paper: sheets are made" or diag $said;
        is_deeply [split /\n/, $said], [map {"$own/worksheets/$chapter-5$_"} '-answers.csv', '-answers.pdf', '.pdf'],
          '... and it is said which';
        none '... each a page, whole, with room for each task', wrong_on_paper(pages("$own/worksheets/$chapter-5.pdf"), @sheets);
    }
    my $answers = join '', map { on_page($_) } @{pages("$own/worksheets/$chapter-5-answers.pdf")};
    none '... all answers stand on paper', grep { index($answers, plain($_)) < 0 }
      map { $_->{code}, map { s/;/ ; /gr } @{$_->{answers}} } @sheets;
    is slurp("$own/worksheets/$chapter-5-answers.csv") =~ s/^.*\n//r,
      Text::csv(map { [$_->{code}, @{$_->{answers}}] } @sheets), '... and in the table';
}
my $sum = sub { Digest::SHA->new(256)->addfile("$own/worksheets/03-5.pdf")->hexdigest };
my $once = $sum->();
unlink "$own/worksheets/03-5.pdf";
tool('tools/teach/worksheet 3 5 3 a4');
is $sum->(), $once, 'chapter 3 is chapter 03, and a PDF that is made twice has the same bytes';

# Answers may hold what a table, and typst, have signs for.
my $told = tempdir(CLEANUP => 1);
make_path("$told/tools");
chmod 0755, Chapter::save("$told/tools/worksheet", '#!/bin/sh', q{printf 'sheet\t3-5-1\ntask\tSay "a"\tSo.\nask\tWhat?\n'},
    q{printf 'answer\t%s\n' '"a\\", b'});
is((tool("BUILD='$told' tools/teach/worksheet 03 5 1"))[0], 0, 'an answer with quotes is set');
is slurp("$told/worksheets/03-5-answers.csv"), qq{copy,1a\r\n3-5-1,"""a\\"", b"\r\n}, '... and stands in the table as it is';

# The same, of sheets of which one thing is wrong.
my @sheets = sheets('03', 5, 3);
my $pages = pages("$own/worksheets/03-5.pdf");
for ([qr/has 3 pages, not 2/, $pages, @sheets[0, 1]],
     [qr/3-5-4: lacks: 3-5-4/, $pages, $sheets[0], {%{$sheets[1]}, code => '3-5-4'}, $sheets[2]],
     [qr/lacks: Their beard/, $pages, @sheets[0, 1], {%{$sheets[2]}, lines => [@{$sheets[2]{lines}}, "ask\tTheir beard."]}],
     [qr/room for 2 of 3 tasks/, $pages, @sheets[0, 1], {%{$sheets[2]}, lines => [@{$sheets[2]{lines}}, "task\tTheir\tvalues."]}],
     [qr/outside of the text/, [@$pages[0, 1], {%{$pages->[2]}, width => $pages->[2]{width} - 40}], @sheets]) {
    my ($pattern, $seen, @told) = @$_;
    ok scalar(grep { $_ =~ $pattern } wrong_on_paper($seen, @told)), "found: $pattern" or diag wrong_on_paper($seen, @told);
}

# ------------------------------------------------------- quizzes

my @asking = map { /(\d\d)_/ } glob 'chapters/[0-9]*.c';
my ($status, $said) = tool("tools/teach/quiz '@asking'");
is $status, 0, 'a quiz of all chapters is made' or diag $said;
my ($quiz, $solved) = map { join '', map { on_page($_) } @{pages($_)} } reverse split /\n/, $said;
my @questions = map { slurp($_) =~ /^::: question\n(.*?)\n\n(.*?)\n:::$/msg } glob 'chapters/*.c';
sub words { return grep { length > 30 } map { plain($_) } split /\[.*?\]\(.*?\)|\$.*?\$|['"*`]|^\n/m, $_[0] }
cmp_ok scalar @questions, '>', 30, 'chapters ask';
for (0 .. $#questions) {
    my ($text, $is_answer) = (utf8::decode($questions[$_]) && $questions[$_], $_ % 2);
    none +($is_answer ? 'an answer stands' : 'a question stands') . ' where it should: ' . substr($text, 0, 30),
      (grep { index($solved, $_) < 0 } words($text)),
      grep { $is_answer ? index($quiz, $_) >= 0 : index($quiz, $_) < 0 } words($text);
}
is join(' ', map { s{.*/}{}r } split /\n/, (tool('tools/teach/quiz 9'))[1]), '09-quiz-answers.pdf 09-quiz.pdf', 'chapter 9 is chapter 09';
my ($one) = map { join "\n", map { $_->{text} } @{pages($_)} } "$own/worksheets/09-quiz.pdf";
unlike $one =~ s/.*Date//sr, qr/Chapter 9 ·/, '... which its questions do not say again';
like $one, qr/context vectors, the future hidden.*The context vector of short is the third row of the table/s, 'what is spoken of is shown';
is sum(map { rooms($_) } @{pages((split /\n/, $said)[1])}), ($solved =~ /(\d+)Chapter24·Exercise24\.3/)[0],
  'there is room for each answer';
cmp_ok scalar @{pages("$own/worksheets/09-quiz.pdf")}, '==', 1, '... and four short ones have room on one page';
like join("\n", map { $_->{by_line} } map { @{pages($_)} } (split /\n/, $said)[1]), qr/ARGS="0 0 -inf"/, 'a command is not torn';
like $quiz, qr/withthesamemask\./, 'what leads to code ends there';
like $quiz, qr/Exercise1\.4.*Exercise23\.3/s, 'exercises by hand are asked';
unlike $quiz, qr/Exercise1\.1\D/, '... and no others';

done_testing;
