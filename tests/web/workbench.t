#!/usr/bin/env perl
# The workbench and the look inside a trained model, in a terminal: they begin with the
# numbers and figures that the chapters show; entries of every table are explained by their
# own sources, which make them up when they are put together here; what the page says of
# things to try holds; and what makes no sense is refused. A wrong explanation is noticed.

use strict;
use warnings;
use utf8;
use File::Temp qw(tempdir);
use List::Util qw(sum max);
use Chapter;
use Test::More;
use Text;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $build  = $ENV{BUILD} // 'build';
my $folder = tempdir(CLEANUP => 1);
delete @ENV{qw(DIGITS FIGURES MODELS)};

# A program of tools/web, as make makes it; with what `change` makes of explain.c.
my @shared = map {"$_.c"} qw(stages steps explain say);
my %files  = (workbench => ['workbench.c', 'figures.c', @shared], inside => ['inside.c', @shared]);

sub built {
    my ($name, $change) = @_;
    my ($compile, $link) = Chapter::compiler();
    my $copy = tempdir(CLEANUP => 1);
    system('cp', (map {"tools/web/$_"} @{$files{$name}}, 'stages.h'), $copy) == 0 or die "no copy\n";
    if ($change) {
        my $text = my $before = Text::of_file("$copy/explain.c");
        $change->() for $text;
        die "explain.c: nothing was changed\n" if $text eq $before;
        Chapter::save("$copy/explain.c", split /\n/, $text);
    }
    is `$compile -Wmissing-prototypes -Werror $copy/*.c $build/libattention.a $link -o $copy/$name 2>&1`, '',
      "$name is built without a warning" . ($change ? ', with another explain.c' : '');
    return "$copy/$name";
}
my %program = map { $_ => built($_) } keys %files;
my ($workbench, $inside) = @program{qw(workbench inside)};

# What a program prints, taken apart: lists of names, settings, notes, tables by "id head" with
# their rows, maps, figures and explanations; and its status.
sub run {
    my ($program, $args, %environment) = @_;
    local @ENV{keys %environment} = values %environment;
    open my $pipe, '-|:encoding(UTF-8)', $program, map { utf8::encode(my $a = $_); $a } @$args
      or die "$program: cannot be run: $!\n";
    my (%r, $take);
    while (my $line = <$pipe>) {
        chomp $line;
        push @{$r{lines}}, $line;
        if ($line =~ /^\@names (\S+) (.*)/) { $r{names}{$1} = [split ' ', $2] }
        elsif ($line =~ /^@(setting|value|label|range|choice) (\S+) ?(.*)/) { $r{$1}{$2} = $3 }
        elsif ($line =~ /^\@note (.*)/) { push @{$r{note}}, $1 }
        elsif ($line =~ /^\@table (\S+ \S+) /) {
            push @{$r{order}}, $1;
            my ($rows, $at) = $r{table}{$1} = {};
            $take = sub { # the first line is a label
                my ($numbers, $row) = @_;
                if (!defined $at || defined $row) { $at = $row // 0 }
                else { $rows->{$at++} = [$numbers =~ /-?(?:[\d.]+|inf)|nan/g] }
            };
        }
        elsif ($line =~ /^\@row (\d+)/) { $take->(undef, $1) }
        elsif ($line =~ /^\@map (\S+) (on|off) (\S+) (\S+)/) {
            my $map = $r{map}{$1} = {state => $2, before => $3, followed => $4, lines => []};
            $take = sub { push @{$map->{lines}}, $_[0] };
        }
        elsif ($line =~ /^\@figure (\S+)$/) { push @{$r{figures}}, $1 }
        elsif ($line =~ /^\@explain (.*)/) {
            push @{$r{asked}}, my $answer = {cell => $1, text => [], source => []};
            $take = sub { push @{$answer->{text}}, $_[0] };
        }
        elsif ($line =~ /^\@source (.*)/) { push @{$r{asked}[-1]{source}}, $1 }
        elsif ($line !~ /^@/ && $take) { $take->($line) }
        else { push @{$r{stray}}, $line }
    }
    close $pipe;
    $r{status} = $? >> 8;
    return \%r;
}

# Arguments in a line: a + is a blank.
sub words { return map { tr/+/ /r } split / /, $_[0] }

# ---- What the chapters print: label => rows. The first of a name counts.

my %printed;

sub read_tables {
    my ($chapter, @lines) = @_;
    my $label;
    for (@lines) {
        if (/^(\S.*?) \([\d, ]+\)$/) { $label = exists $printed{$chapter}{$1} ? undef : $1 }
        elsif (/^[\[ ]\[|^\[/ && defined $label) { push @{$printed{$chapter}{$label}}, [/-?(?:[\d.]+|inf)|nan/g] }
        else { undef $label }
    }
}
for my $path (glob 'chapters/*.c') {
    my $chapter = Chapter->load($path);
    read_tables($chapter->{number}, map { @{$_->{lines}} } grep { !defined $_->{args} } $chapter->outputs);
    read_tables("$chapter->{number} $_->{args}", @{$_->{lines}}) for grep { defined $_->{args} } $chapter->outputs;
}

# Arguments; a table, from which row on, the chapter and its label. The tables between are held
# by their explanations.
my @same = map { [split / *[|] */] } grep {/\S/} split /\n/, <<'END';
stage=shares                 | parts 0        | 0 | 02 | what Hello, shiny, sun contribute
stage=shares                 | context 0      | 0 | 02 | context vector of shiny
stage=shares score3=-1.2487  | weights 0      | 0 | 02 | weights with a minus before the last
stage=roles                  | alike -        | 0 | 03 | embeddings with each other
stage=roles                  | context 0      | 0 | 03 | context vectors of cat, likes, fish
stage=scale                  | context 0      | 0 | 07 | version 1, seed 123, Life is short
stage=texts                  | context 0      | 0 | 08 | context vectors
stage=translation            | weights 0      | 0 | 08 | weights of can, you, help, me
stage=mask                   | weights 0      | 0 | 09 | their attention weights
stage=mask hide=weights      | renormalized 0 | 0 | 09 | renormalized
stage=mask scale=1           | masked 0       | 0 | 09 | scores, the future hidden
stage=dropout                | dropped 0      | 0 | 10 | after dropout
stage=dropout mask=none p=0  | context 0      | 0 | 07 | version 2, seed 789, no bias
stage=heads                  | joined -       | 0 | 12 | four heads, side by side
stage=output                 | weights 0      | 0 | 13 | Your journey, head 1
stage=output d_out=2         | out -          | 0 | 13 | output for Your journey
stage=all words=the,cat,and,the,dog | embeddings - | 0 | 05 'the cat and the dog' | embedded sentence
stage=scale words=Schöne,Grüße,你好 | embeddings - | 0 | 05 'Schöne Grüße, 你好'   | embedded sentence
END

for (@same) {
    my ($args, $table, $first, $chapter, $label) = @$_;
    # Words are given with commas here, so that blanks part the arguments.
    my $r = run($workbench, [map { /^words/ ? s/,/, /gr : $_ } split ' ', $args]);
    my $page = $printed{$chapter}{$label} or fail("chapter $chapter prints '$label'"), next;
    my $rows = $r->{table}{$table} // {};
    my @ours = map { $rows->{$_} } 0 .. keys(%$rows) - 1;
    # -0.0000 is 0.0000, as everywhere in the book.
    s/^-(0\.0+)$/$1/ for map { @$_ } @ours, @$page;
    $page = [map {[map { /^-?[0-9]+\z/ ? "$_.0000" : $_ } @$_]} @$page]; # whole numbers have no decimals
    is_deeply [@ours[$first .. $first + $#$page]], $page, "$args: $table is '$label' of chapter $chapter";
}

# ---- Figures. The chapters' programs draw theirs here, too.

for my $chapter (qw(02 03 05 08 12)) {
    my ($program) = grep {-x} glob "$build/chapters/${chapter}_*";
    mkdir "$folder/$chapter";
    local $ENV{FIGURES} = "$folder/$chapter";
    system("$program >'$folder/$chapter/said'") == 0 or die "$program: make test-programs makes it\n";
}
for (['stage=shares', 'mixture', '02'], ['stage=shares score3=-1.2487', 'steps', '02'],
    ['stage=roles', 'roles', '03'], ['stage=roles', 'likes', '03'], ['stage=scale', 'life', '05'],
    ['stage=translation', 'translation', '08'],
    ['stage=heads heads=2', 'maps', '12']) {
    my ($args, $name, $chapter) = @$_;
    my $drawn = tempdir(CLEANUP => 1);
    my $r = run($workbench, [split ' ', $args], FIGURES => $drawn);
    ok +(grep { $_ eq "$name.svg" } @{$r->{figures}}), "$args names $name.svg";
    my ($ours, $built) = map { -e $_ ? do { local (@ARGV, $/) = $_; <> } : "no $_" }
      ("$drawn/$name.svg", "$folder/$chapter/$name.svg");
    ok $ours eq $built, "... which is that of chapter $chapter, byte for byte";
}

# ---- Explanations. What the sources of an entry, with nine decimals, make of each other.

# The numbers of a source: "scores 0 2 *" is a row, "0.w_up - 3 5,2" has some of one.
sub got {
    my ($r, $source) = @_;
    my ($id, $head, $i, $j) = split ' ', $source;
    my $rows = $r->{table}{"$id $head"};
    return map { $_ // 'nan' } map { my @row = @{$rows->{$_} // []}; $j eq '*' ? @row : @row[split /,/, $j] }
      $i eq '*' ? sort { $a <=> $b } keys %$rows : $i;
}

# What the sources make; where some of a row are told, all of it counts.
sub made {
    my ($r, $id, $j, @sources) = @_;
    return if !@sources;
    my $number = sub { my ($n) = @_; $n eq 'nan' ? 'nan' + 0 : $n eq '-inf' ? -9**9**9 : $n + 0 };
    my ($x, $y, $z) = map { [map { $number->($_) } got($r, s/ \S*,\S*$/ */r)] } @sources;
    my $softmax = sub { my $most = max @_; exp($_[$j] - $most) / sum map { exp($_ - $most) } @_ };
    my $name = $id =~ s/^\d\.//r;
    return $softmax->(@$x) if $name eq 'weights';
    if ($name eq 'shares') {
        my $t = $r->{setting}{temperature};
        my $least = (sort { $b <=> $a } @$x)[($t == 0 ? 1 : $r->{setting}{top_k} || @$x) - 1];
        return $softmax->(map { $_ < $least ? -9**9**9 : $_ / ($t || 1) } @$x);
    }
    if ($name =~ /^norm/) {
        my $mean = sum(@$x) / @$x;
        return ($x->[$j] - $mean) / sqrt(sum(map { ($_ - $mean)**2 } @$x) / @$x + 1e-5) * $y->[0] + $z->[0];
    }
    return $x->[0] / (1 + exp -sqrt(2 / atan2 1, 1) * ($x->[0] + 0.044715 * $x->[0]**3)) if $name eq 'gelu';
    return $x->[0] + $y->[0] if $name =~ /^(?:sum|between|after)$/;
    my $scale = $r->{value}{scale} // $r->{setting}{scale} // sqrt($r->{setting}{stage} eq 'language' ? 28 : 16);
    return $x->[0] / $scale if $name eq 'scaled';
    return $y->[0] ? $x->[0] : -9**9**9 if $name eq 'masked';
    return exp $x->[0] if $name eq 'exponentials';
    return sum(@$x) == 0 ? 'nan' + 0 : $x->[$j] / sum(@$x) if $name eq 'renormalized';
    return $y->[0] ? $x->[0] / (1 - $r->{setting}{p}) : 0 * $x->[0] if $name eq 'dropped';
    return $x->[0] if @sources == 1; # it stands there as it was
    return ($z ? $z->[0] // "nan" : 0) + sum 0, map { ($x->[$_] // "nan") * ($y->[$_] // "nan") } 0 .. $#$y;
}

# Equal, but for what float arithmetic rounds; nan is nan.
sub near {
    my ($a, $b) = @_;
    return 1 if $a eq $b || ($a =~ /nan/i && $b =~ /nan/i) || ($a =~ /^-inf/i && $b =~ /^-inf/i);
    return abs($a - $b) <= 2e-5 * (1 + abs $b);
}

# Whether a line's calculation gives what stands behind its last "=".
sub holds {
    my ($left, $right) = $_[0] =~ /^([-\d.\s×\/+()e^]+) = (-?[\d.]+)(?:,|$)/ or return 1;
    $left =~ s/×/*/g;
    $left =~ s/e\^(\(.*?\)|-?[\d.]+)/exp($1)/g;
    return abs(eval($left) - $right) < 2e-5;
}

# All entries of all tables; or, of a model, those that sources lead to from the most likely
# token: up to three of each table.
sub entries {
    my ($program, @settings) = @_;
    my $all = run($program, \@settings);
    return map { my $table = $_; my $rows = $all->{table}{$table};
        map { my $i = $_; map { join ':', split(' ', $table), $i, $_ } 0 .. $#{$rows->{$i}} } sort { $a <=> $b } keys %$rows } @{$all->{order}}
      if $program !~ /inside$/;
    my (%seen, @found);
    my @new = map {"next:-:0:$_"} 0, 3;
    while (@new) {
        push @found, @new;
        my $r = run($program, [@settings, map {"ask=$_"} splice @new]);
        for my $source (map { @{$_->{source}} } @{$r->{asked}}) {
            my ($id, $head, $i, $j) = split ' ', $source;
            my $rows  = $r->{table}{"$id $head"};
            my @of    = $i eq '*' ? sort { $a <=> $b } keys %$rows : $i;
            my $chosen = $of[@found % @of];
            my @at    = $j eq '*' ? 0 .. $#{$rows->{$chosen}} : split /,/, $j;
            my $cell  = "$id:$head:$chosen:$at[7 * @found % @at]";
            push @new, $cell if !grep({ $_ eq $cell } @found, @new) && ++$seen{$id} <= 3;
        }
    }
    return @found;
}

# All faults of all these explanations at these settings.
sub faults {
    my ($program, @settings) = @_;
    my @cells = entries($program, @settings);
    my @ask = map {"ask=$_"} @cells;
    my ($r, $short) = map { run($program, [@settings, @ask], DIGITS => $_) } 9, 4;
    return "status $r->{status}" if $r->{status};
    my @faults = map {"stray: $_"} @{$r->{stray}};
    push @faults, @cells . ' entries, ' . @{$r->{asked}} . ' answers' if @cells != @{$r->{asked}};
    for my $k (0 .. $#cells) {
        my ($id, $h, $i, $j) = split /:/, $cells[$k];
        my $answer  = $r->{asked}[$k];
        my @sources = @{$answer->{source}};
        my $is = sub { push @faults, "$cells[$k]: $_[1]" if !$_[0] };
        $is->($answer->{cell} eq "$id $h $i $j", "answered $answer->{cell}");
        for my $either ($r, $short) {
            my $entry = $either->{table}{"$id $h"}{$i}[$j] =~ s/^-(0\.0+)$/$1/r;
            my ($last) = grep { !/^\(All digits are used/ } reverse @{$either->{asked}[$k]{text}};
            $is->(scalar $last =~ /(?:^|\s)\Q$entry\E$/, "ends '$last', is $entry");
        }
        $is->(scalar @sources, 'is from nothing') if $id !~ /^(?:tokens|positions|embeddings|others|mask|kept|scores|(?:\d\.)?[wb]_\w+)$/;
        my $made = made($r, $id, $j, @sources);
        $is->(near($r->{table}{"$id $h"}{$i}[$j], $made), "its sources make $made") if defined $made;
        $is->(holds($_), $_) for @{$answer->{text}};
        # The factors of each product are the sources' own numbers.
        my @products = map { /^(\S+) × (\S+) = \S+/ ? "$1 $2" : () } @{$answer->{text}};
        next if $id =~ /[wb]_|hidden|dropped|norm|gelu/ || !@products;
        my ($x, $y) = map { [map { s/^-(0\.0+)$/$1/r } got($r, $_)] } @sources;
        my @wanted = map { join ' ', map { $_ // 'gone' } $x->[$_], $y->[$_] } 0 .. $#$x;
        @wanted = grep { my $one = $_; grep { $_ eq $one } @products } @wanted if @products < @wanted && $id =~ /context$/;
        $is->(join(' ', sort @products) eq join(' ', sort @wanted), "multiplies @products, not @wanted");
    }
    return @faults;
}

my @asked = (
    (map {"stage=$_"} qw(shares roles scale texts translation mask dropout heads output all)),
    'stage=shares words=Hello+dog word=dog score1=-inf', 'stage=scale words=Schöne+Grüße,+你好+@table d_k=1 scale=0.5',
    'stage=texts words=a others=1+2+1 d_k=3', 'stage=mask hide=weights mask=window window=2', 'stage=mask mask=next',
    'stage=dropout p=0.95', 'stage=heads heads=3 d_k=1 d_v=2 mask=causal', 'stage=output heads=4 d_out=4 p=0.2 mask=none',
    'stage=all others=is+there+more p=0.3 heads=8 d_out=2 hide=weights mask=window window=1',
    'stage=language words=abcab', 'stage=language temperature=0.7 off=0.1,1.3', 'stage=language mask=window top_k=3 temperature=1.5',
    'stage=language temperature=0 mask=none', 'stage=repeated', 'stage=repeated mask=next words=abcabcab temperature=2',
    'stage=verbs', 'stage=verbs off=0.0 top_k=2 words=the+small+bird+near+the+mice+_',
);
for my $args (@asked) {
    my $program = $program{$args =~ /language|repeated|verbs/ ? 'inside' : 'workbench'};
    is_deeply [grep {defined} (faults($program, words($args)))[0 .. 4]], [], "$args: every entry is explained";
}

# ---- A mistake in an explanation is noticed, whichever it is.

for (['workbench', 'the wrong row, and the wrong source',
        sub { s/(\(Line\)\{bench_row\(y, p\.h, p\.)j/${1}i/; s/(from_told\(s->from\[1\], p\.h, p\.)j/${1}i/g }],
    ['workbench', 'a product left out', sub { s/for \(int k = 0; k < count; k\+\+\) \{/for (int k = 1; k < count; k++) {/ }],
    ['inside', 'a GELU that keeps all', sub { s/0\.044715/0.44715/ }]) {
    my ($name, $what, $change) = @$_;
    my @settings = $name eq 'inside' ? ('words=abcab') : ('stage=dropout');
    ok scalar(faults(built($name, $change), @settings)), "$what is noticed";
}

# ---- Settings: what is printed can be given back, and gives the same.

for my $args ('stage=shares', 'stage=roles words=dog+likes+fish', 'stage=texts', 'stage=dropout p=0.25',
    'stage=mask mask=window hide=weights', 'stage=output', 'stage=all others=a+b scale=3',
    'stage=verbs words=the+old+dog+near+the+mice+_ off=0.0', 'stage=language off=0.1,1.3 head=0.2',
    'stage=language write=5 top_k=3 temperature=0.5 seed=9', 'stage=repeated top_k=3 mask=next') {
    my $program = $program{$args =~ /language|repeated|verbs/ ? 'inside' : 'workbench'};
    my $r = run($program, [words($args)]);
    my $again = run($program, [map {"$_=$r->{setting}{$_}"} sort keys %{$r->{setting}}]);
    is_deeply $again->{lines}, $r->{lines}, "$args: its settings give it again";
    is_deeply [grep { !defined $r->{label}{$_} } keys %{$r->{setting}}], [], '... and have labels';
}
is_deeply run($workbench, ['stage=roles', 'words=dog likes bird dog'])->{note},
  ['Chapter 3 does not have each of these words: the rows of others are drawn as in chapter 5, from seed 123.'],
  'a word that the chapter does not have is drawn, and that is said';

# ---- The trained models: the logits of chapter 23's program, and what it writes.

my @chapter = ("$build/chapters/23_language_model", 'src/models/language.safetensors');
my $ros = 'Good Rosencrantz, and you, sweet Ros';
for my $text ('The ', $ros, 'q', '~{|', 'The mask hides the future. ' x 4) {
    my @ids    = map {ord} split //, $text;
    my $r      = run($inside, ["words=$text", 'ask=output:-:' . $#ids . ':0'], DIGITS => 9);
    my @wanted = do { local $ENV{DIGITS} = 9; join(' ', `@chapter @ids`) =~ /-?\d+\.\d+/g };
    is scalar @wanted, 128, "'$text': chapter 23 prints all logits";
    cmp_ok max(map { abs $r->{table}{'output -'}{$#ids}[$_] - $wanted[$_] } 0 .. 127), '<', 2e-5, '... and the page has the same';
}
for my $text ('The ', $ros) {
    my $sampled = run($inside, ["words=$text", 'write=40', 'temperature=0.8']);
    my $wanted  = `$build/tools/write $chapter[1] '$text' 40` =~ s/\n\z//r;
    is join('', @{$sampled->{names}{words}}), $wanted =~ tr/ \n/␣↵/r, "'$text' is written on as by chapter 23";
}
is run($inside, ['stage=repeated'])->{names}{best}[0], 'a', 'after fihapfih comes what followed h';

# ---- Maps: the weights of every head, as two digits of 16; and what it does.

my $n = length $ros;
my $r = run($inside, ["words=$ros"]);
my %weights = map { $_ => run($inside, ["words=$ros", "head=$_"], DIGITS => 9)->{table}{s/\./.weights /r} } keys %{$r->{map}};
for my $head (sort keys %weights) {
    my $rows = $weights{$head};
    is_deeply $r->{map}{$head}{lines},
      [map { join '', map { sprintf '%02x', $_ * 255 + 0.5 } @{$rows->{$_}} } 0 .. $n - 1], "the map of head $head has its weights";
}
my $own = $weights{'1.0'};
cmp_ok abs(sum(map { $own->{$_}[$_ - 1] } 1 .. $n - 1) / ($n - 1) - $r->{map}{'1.0'}{before}), '<', 6e-4, '... the token before';
# Two characters or more that have stood together before: what followed them.
my %from = map { my $i = $_; my $best; for my $size (reverse 2 .. $i) {
    my $at = rindex substr($ros, 0, $i), substr($ros, $i + 1 - $size, $size);
    if ($at >= 0) { $best = $at + $size; last } } defined $best ? ($i => $best) : () } 0 .. $n - 1;
cmp_ok abs(sum(map { $own->{$_}[$from{$_}] } keys %from) / keys(%from) - $r->{map}{'1.0'}{followed}), '<', 6e-4, '... and what followed';
is run($inside, ['words=abc'])->{map}{'0.0'}{followed}, '-1.000', 'where nothing has stood before, nothing followed';
is_deeply [grep { $r->{map}{$_}{before} > $r->{map}{'0.3'}{before} } keys %{$r->{map}}], [], 'head 0.3 looks most at the token before';

# ---- What the page says of its things to try holds, number by number.

open my $book, '<:encoding(UTF-8)', 'book.md' or die "book.md: $!\n";
my ($section) = join('', <$book>) =~ /^## Six things to try.*?\n(.*?)^## /ms or die "book.md has no things to try\n";
my @things = split /^\d+\. /m, $section;
shift @things;
is scalar @things, 6, 'six things to try';
for my $thing (@things) {
    my ($title) = $thing =~ /\*\*(.*?)\*\*/;
    # What stands behind a link is said of its state.
    my (undef, @parts) = split /\{state="(stage=.*?)"\}/s, $thing;
    ok scalar @parts, "$title: has a link";
    while (my ($state, $text) = splice @parts, 0, 2) {
        my @args = map { s/\+/ /gr } split /&/, $state;
        my $r    = run($inside, \@args);
        is $r->{status}, 0, "... that can be shown: $state";
        my %share = map { $r->{names}{best}[$_] => $r->{table}{'next -'}{0}[$_] } 0 .. 9;
        my $said  = 0;
        while ($text =~ /\*(\S+)\*\s+has\s+the\s+share\s+(0\.\d+)/g) { is $share{$1}, $2, "... *$1* has $2"; $said++ }
        while ($text =~ /head\s+(\d\.\d)\s+has\s+(0\.\d+)\s+on\s+what/g) { is $r->{map}{$1}{followed}, $2, "... $1 has $2"; $said++ }
        while ($text =~ /the\s+loss(?:\s+of\s+the\s+text)?\s+is\s+(\d\.\d+)/g) { like "@{$r->{note}}", qr/loss of this text is \Q$1\E\./, "... loss $1"; $said++ }
        while ($text =~ /\*(\S+)\*\s+is\s+not\s+among/g) { ok !exists $share{$1}, "... no *$1*" }
        while ($text =~ /"(The [^"]{20,})"/g) {
            is join('', @{$r->{names}{words}}[0 .. length($1) - 1]), $1 =~ tr/ /␣/r, "... writes '$1'";
            like $r->{note}[0], qr/written: \Q@{[substr $1 =~ tr{ }{␣}r, 4]}\E/, '... and says so';
        }
        is $said, scalar(() = $text =~ /\d\.\d{3,}/g), '... which are all numbers that it tells of' if $text =~ /\d\.\d{3}/;
    }
}

# ---- What makes no sense.

for (['repeated', 'verbs', 'd_x, d_y = 16, 16: a d_y of 32'], ['verbs', 'repeated', 'd_x, d_y = 16, 32: a d_y of 16'],
    ['language', 'verbs', "'wte.weight'"], ['verbs', 'language', "'token.weight'"]) {
    my ($stage, $other, $says) = @$_;
    mkdir "$folder/models";
    unlink "$folder/models/$stage.safetensors";
    symlink "$ENV{PWD}/src/models/$other.safetensors", "$folder/models/$stage.safetensors";
    like `MODELS=$folder/models $inside stage=$stage 2>&1`, qr/\A\w+\.c: [^\n]*\Q$says\E[^\n]*\n\z/, "$stage: the model of $other is refused";
}

# Arguments of the workbench, and what is said of them; and those of the models.
my %refused = (
    'stage=none' => q(stage is 'none': one of all, shares), 'words' => q('words': KEY=VALUE is needed),
    'stage=roles p=0.5' => q(stage=roles has no setting 'p': one of words), 'words=' => 'has no words: at least one is needed',
    'words=' . 'a+' x 13 => '13 words: 1 to 12 are needed', "words=a\x01b+c" => 'word 1 has byte 0x01: characters in UTF-8',
    "words=a\xEF\xBF\xBF" => 'byte 0xEF', "words=\xC2\x85" => 'byte 0xC2', "others=\x7F" => 'word 1 has byte 0x7F',
    (map { ("words=a$_" => 'characters in UTF-8 that can be printed') } "\xFF", "\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80"),
    'words=' . 'a' x 40 => 'word 1 does not fit', 'seed=-1' => q(seed is '-1'), 'd_v=9' => 'from 1 to 8',
    'stage=output heads=3' => 'a divisor of 8 is needed', 'scale=0' => q(scale is '0': a number from 0.25 to 8),
    'scale=nan' => 'from 0.25 to 8', 'mask=past' => q(mask is 'past': one of none causal window next is needed),
    'hide=x' => q(hide is 'x': one of scores weights is needed), 'window=0' => q(window is '0'), 'p=1' => 'from 0 to 0.95 is needed',
    'stage=shares word=moon' => q('moon', which is not in the text), 'stage=shares score1=nan' => 'score1 is nan',
    'stage=shares score13=1' => 'from 1 to 12', 'ask=kept:0:0:0' => q(ask is for table 'kept': one that is printed),
    'ask=weights:0:0' => q(ask is 'weights:0:0': TABLE:HEAD:ROW:COLUMN), 'ask=weights:0:6:0' => q(the row asked for is '6'),
    'ask=mask:0:0:0' => '- is needed', 'ask=' . 'x' x 50 . ':0:0:0' => 'TABLE:HEAD:ROW:COLUMN',
);
my %refused_inside = (
    'words=' => 'the text has 0 characters', 'words=' . 'a' x 129 => '129 characters', "words=a\tb" => 'character 2 has byte 0x09',
    "words=\xC3\xA9" => 'character 1 has byte 0xC3', 'write=64 words=' . 'a' x 65 => 'from 1 to 128 in all', 'write=65' => 'write',
    'head=2.0' => q(a head is '2.0': one from 0.0 to 1.3), 'head=1' => q(a head is '1'), 'head=1.0,1.1' => q(a head is '1.0,1.1'),
    'off=1.0;1.1' => q(a head is '1.0;1.1'), 'off=0.7' => q(a head is '0.7'), 'off=1.0,' => q(a head is ''),
    'stage=scale' => q(stage is 'scale': one of language, repeated, verbs is needed),
    'write=2 mask=none' => 'write is 2: mask=causal', 'temperature=-1' => 'from 0 to 2',
    'temperature=0.001' => 'from 0.01 on', 'top_k=21' => 'top_k', 'p=1' => q(no setting 'p'), 'ask=next:0:0:0' => '- is needed',
    'ask=0.weights:4:0:0' => q(the head asked for is '4'), 'stage=verbs words=the+dogs+bark' => q(there is no word 'bark'),
    'stage=verbs words=' . 'the+' x 7 . '_' => 'the text has 8 words', 'stage=verbs words=the+dog+sleeps' => q(there is no word 'sleeps'),
    'stage=verbs words=the+dog' => q(the sentence has 0 blanks and ends in 'dog'), 'stage=verbs words=the+_+dog+_' => 'has 2 blanks',
    'stage=verbs words=+' => 'the text has 0 words', 'stage=verbs top_k=20' => 'top_k is 20: from 0 to 19',
    'stage=repeated words=abq' => q(character 3 has byte 0x71: ASCII from 'a' to 'p'), 'stage=repeated write=2' => q(no setting 'write'),
);
for ([$workbench, \%refused], [$inside, \%refused_inside]) {
    my ($program, $refused) = @$_;
    for my $args (sort keys %$refused) {
        my $line = `$program @{[map {"'$_'"} words($args)]} 2>&1 >$folder/out`;
        is $? >> 8, 2, (substr $args, 0, 30) =~ s/[^ -~]/?/gr . ' is refused';
        like $line, qr/\A\w+\.c: \w+: .*\Q$refused->{$args}\E.*\n\z/, '... in one line that says why';
    }
}

done_testing;
