#!/usr/bin/env perl
# The workbench begins at each stage with the numbers and figures that the
# chapters show; every entry of every table can be asked for, and is explained
# by its own sources, which make it up when they are put together here; what
# makes no sense is refused. An explanation of the wrong row is noticed.

use strict;
use warnings;
use utf8;
use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use List::Util qw(sum max);
use Chapter;
use Test::More;
use lib 'tests/web';
use Built;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $build  = $ENV{BUILD} // 'build';
my $folder = tempdir(CLEANUP => 1);
delete @ENV{qw(DIGITS FIGURES)};

# ---- The program, made as all others are; with a mistake, if one is planted.

my $workbench = built('workbench', 'workbench');

# What it prints, taken apart: words, settings, tables by "id head", figures
# and explanations; and its status.
sub run {
    my ($program, $args, %environment) = @_;
    local @ENV{keys %environment} = values %environment;
    open my $pipe, '-|:encoding(UTF-8)', $program, map { utf8::encode(my $a = $_); $a } @$args
      or die "$program: cannot be run: $!\n";
    my (%r, $lines);
    while (my $line = <$pipe>) {
        chomp $line;
        push @{$r{lines}}, $line;
        if ($line =~ /^@(words|others) (.*)/) { $r{$1} = [split ' ', $2] }
        elsif ($line =~ /^@(setting|value|label|range|choice) (\S+) ?(.*)/) { $r{$1}{$2} = $3 }
        elsif ($line =~ /^@(names|note) (.*)/) { push @{$r{$1}}, $2 }
        elsif ($line =~ /^\@table (\S+ \S+) (\S+ \S+)$/) {
            push @{$r{order}}, $1;
            $r{by}{$1} = $2;
            $lines = $r{lines_of}{$1} = [];
        }
        elsif ($line =~ /^\@figure (\S+)$/) { push @{$r{figures}}, $1; undef $lines }
        elsif ($line =~ /^\@explain (.*)/) { push @{$r{asked}}, {cell => $1, text => $lines = [], source => []} }
        elsif ($line =~ /^\@source (.*)/) { push @{$r{asked}[-1]{source}}, $1 }
        elsif ($line !~ /^@/ && $lines) { push @$lines, $line }
        else { push @{$r{stray}}, $line }
    }
    close $pipe;
    $r{status} = $? >> 8;
    $r{table}{$_} = [cells(@{$r{lines_of}{$_}}[1 .. $#{$r{lines_of}{$_}}])] for @{$r{order}};
    return \%r;
}

# The rows of a printed table, or of a list, as lists of printed numbers.
sub cells {
    return map { [/-?(?:[\d.]+|inf)|nan/g] } @_;
}

# ---- What the chapters print: label => rows. The first of a name counts.

my %printed;

sub read_tables {
    my ($chapter, @lines) = @_;
    my $label;
    for (@lines) {
        if (/^(\S.*?) \([\d, ]+\)$/) { $label = exists $printed{$chapter}{$1} ? undef : $1 }
        elsif (/^[\[ ]\[|^\[/ && defined $label) { push @{$printed{$chapter}{$label}}, cells($_) }
        else { undef $label }
    }
}
for my $path (glob 'chapters/*.c') {
    my $chapter = Chapter->load($path);
    read_tables($chapter->{number}, map { @{$_->{lines}} } grep { !defined $_->{args} } $chapter->outputs);
    read_tables("$chapter->{number} $_->{args}", @{$_->{lines}}) for grep { defined $_->{args} } $chapter->outputs;
}

# Arguments; a table, from which row on, the chapter and its label.
my @same = map { [split / *[|] */] } grep {/\S/} split /\n/, <<'END';
stage=shares                 | scores 0       | 0 | 02 | scores of shiny
stage=shares                 | exponentials 0 | 0 | 02 | exponentials of the scores of shiny
stage=shares                 | weights 0      | 0 | 02 | weights of shiny
stage=shares                 | parts 0        | 0 | 02 | what Hello, shiny, sun contribute
stage=shares                 | context 0      | 0 | 02 | context vector of shiny
stage=shares score3=-1.2487  | scores 0       | 0 | 02 | with the last sign flipped
stage=roles                  | alike -        | 0 | 03 | embeddings with each other
stage=roles                  | query 0        | 0 | 03 | queries
stage=roles                  | context 0      | 0 | 03 | context vectors of cat, likes, fish
stage=scale                  | embeddings -   | 0 | 05 | embedded sentence
stage=scale                  | w_query 0      | 0 | 04 | W_query
stage=scale                  | key 0          | 1 | 06 | key of is
stage=scale                  | scores 0       | 1 | 06 | scores of is, not divided
stage=scale                  | weights 0      | 0 | 06 | attention weights
stage=scale                  | context 0      | 0 | 07 | version 1, seed 123, Life is short
stage=texts                  | others -       | 0 | 08 | second input
stage=texts                  | context 0      | 0 | 08 | context vectors
stage=texts others=          | context 0      | 0 | 07 | version 1, seed 123, Life is short
stage=translation            | weights 0      | 0 | 08 | weights of can, you, help, me
stage=mask                   | mask -         | 0 | 09 | mask
stage=mask                   | weights 0      | 0 | 09 | their attention weights
stage=mask hide=weights      | hidden 0       | 0 | 09 | weights times the mask
stage=mask hide=weights      | renormalized 0 | 0 | 09 | renormalized
stage=mask scale=1           | masked 0       | 0 | 09 | scores, the future hidden
stage=dropout                | kept 0         | 0 | 10 | kept, seed 123
stage=dropout                | dropped 0      | 0 | 10 | after dropout
stage=dropout mask=none p=0  | context 0      | 0 | 07 | version 2, seed 789, no bias
stage=heads                  | joined -       | 0 | 12 | four heads, side by side
stage=heads heads=1          | context 0      | 0 | 12 | one head
stage=output                 | weights 1      | 0 | 13 | Your journey, head 2
stage=output                 | out -          | 5 | 13 | output of step
stage=output d_out=2         | out -          | 0 | 13 | output for Your journey
stage=all words=the,cat,and,the,dog | embeddings - | 0 | 05 'the cat and the dog' | embedded sentence
stage=scale words=Schöne,Grüße,你好 | embeddings - | 0 | 05 'Schöne Grüße, 你好'   | embedded sentence
END

for (@same) {
    my ($args, $table, $first, $chapter, $label) = @$_;
    # Words are given with commas here, so that blanks part the arguments.
    my $r = run($workbench, [map { /^words/ ? s/,/, /gr : $_ } split ' ', $args]);
    my $page = $printed{$chapter}{$label} or fail("chapter $chapter prints '$label'"), next;
    my @ours = @{$r->{table}{$table} // []};
    # -0.0000 is 0.0000, as everywhere in the book.
    s/^-(0\.0+)$/$1/ for map { @$_ } @ours, @$page;
    is_deeply [@ours[$first .. $first + $#$page]], $page, "$args: $table is '$label' of chapter $chapter";
}

# ---- Figures. The chapters' programs draw theirs here, too.

for my $chapter (qw(02 03 06 08 09 12 13)) {
    my ($program) = grep {-x} glob "$build/chapters/${chapter}_*";
    mkdir "$folder/$chapter";
    local $ENV{FIGURES} = "$folder/$chapter";
    system("$program >'$folder/$chapter/said'") == 0 or die "$program: make test-programs makes it\n";
}
for (['stage=shares', 'mixture', '02'], ['stage=shares score3=-1.2487', 'steps', '02'],
    ['stage=roles', 'roles', '03'], ['stage=roles', 'likes', '03'], ['stage=scale', 'life', '06'],
    ['stage=texts', 'strangers', '08'], ['stage=translation', 'translation', '08'],
    ['stage=mask', 'maps', '09'], ['stage=mask hide=weights', 'maps', '09'],
    ['stage=heads heads=2', 'maps', '12'], ['stage=output', 'maps', '13']) {
    my ($args, $name, $chapter) = @$_;
    my $drawn = tempdir(CLEANUP => 1);
    my $r = run($workbench, [split ' ', $args], FIGURES => $drawn);
    ok +(grep { $_ eq "$name.svg" } @{$r->{figures}}), "$args names $name.svg";
    my ($ours, $built) = map { -e $_ ? do { local (@ARGV, $/) = $_; <> } : "no $_" }
      ("$drawn/$name.svg", "$folder/$chapter/$name.svg");
    ok $ours eq $built, "... which is that of chapter $chapter, byte for byte";
}

# ---- Explanations. What the sources of an entry, with nine decimals, make of each other.

# The numbers of a source: "scores 0 2 *" is a row.
sub got {
    my ($r, $source) = @_;
    my ($id, $head, $i, $j) = split ' ', $source;
    my $table = $r->{table}{"$id $head"};
    return map { $j eq '*' ? @$_ : $_->[$j] } $i eq '*' ? @$table : $table->[$i];
}

sub made {
    my ($r, $id, $j, @sources) = @_;
    return if !@sources;
    my $number = sub { my ($n) = @_; $n eq 'nan' ? 'nan' + 0 : $n eq '-inf' ? -9**9**9 : $n + 0 };
    my ($x, $y, $z) = map { [map { $number->($_) } got($r, $_)] } @sources;
    if ($id eq 'weights') {
        my $most = max @$x;
        return exp($x->[$j] - $most) / sum map { exp($_ - $most) } @$x;
    }
    return $x->[0] / ($r->{value}{scale} // $r->{setting}{scale}) if $id eq 'scaled';
    return $y->[0] ? $x->[0] : -9**9**9 if $id eq 'masked';
    return exp $x->[0] if $id eq 'exponentials';
    return sum(@$x) == 0 ? 'nan' + 0 : $x->[$j] / sum(@$x) if $id eq 'renormalized';
    return $y->[0] ? $x->[0] / (1 - $r->{setting}{p}) : 0 * $x->[0] if $id eq 'dropped';
    return $x->[0] if $id eq 'joined';
    return ($z ? $z->[0] : 0) + sum map { $x->[$_] * $y->[$_] } 0 .. $#$y;
}

# Equal, but for what float arithmetic rounds; nan is nan.
sub near {
    my ($a, $b) = @_;
    return 1 if $a eq $b || ($a =~ /nan/i && $b =~ /nan/i) || ($a =~ /^-inf/i && $b =~ /^-inf/i);
    return abs($a - $b) <= 2e-5 * (1 + abs $b);
}

# All faults of all explanations at these settings.
sub faults {
    my ($program, $args) = @_;
    my @words = map { tr/+/ /r } split ' ', $args;
    my $plain = run($program, \@words, DIGITS => 9);
    return "$args: status $plain->{status}" if $plain->{status};
    my @cells;
    for my $table (@{$plain->{order}}) {
        my $rows = $plain->{table}{$table};
        for my $i (0 .. $#$rows) {
            push @cells, map { join ':', split(' ', $table), $i, $_ } 0 .. $#{$rows->[$i]};
        }
    }
    my @ask = map { "ask=$_" } @cells;
    my ($r, $short) = map { run($program, [@words, @ask], DIGITS => $_) } 9, 4;
    my @faults = map { "stray: $_" } grep { !/^@/ } @{$r->{stray}};
    push @faults, @cells . ' cells, ' . @{$r->{asked}} . ' answers' if @cells != @{$r->{asked}};
    for my $k (0 .. $#cells) {
        my ($id, $h, $i, $j) = split /:/, $cells[$k];
        my $answer = $r->{asked}[$k];
        my @sources = @{$answer->{source}};
        my $is = sub { push @faults, "$cells[$k]: $_[1]" if !$_[0] };
        $is->($answer->{cell} eq "$id $h $i $j", "answered $answer->{cell}");
        for my $either ($r, $short) {
            my $entry = $either->{table}{"$id $h"}[$i][$j] =~ s/^-(0\.0+)$/$1/r;
            my ($last) = grep { !/^\(All digits are used/ } reverse @{$either->{asked}[$k]{text}};
            $is->(scalar $last =~ /(?:^|\s)\Q$entry\E$/, "ends '$last', is $entry");
        }
        $is->(scalar @sources, 'is from nothing') if $id !~ /^(?:embeddings|others|mask|kept|scores|[wb]_\w+)$/;
        my $made = made($r, $id, $j, @sources);
        $is->(near($r->{table}{"$id $h"}[$i][$j], $made), "its sources make $made") if defined $made;
        # The factors of each product are the sources' own numbers.
        my @products = map { /^(\S+) × (\S+) = \S+/ ? "$1 $2" : () } @{$answer->{text}};
        next if $id =~ /^[wb]_|^hidden|^dropped/ || !@products;
        my ($x, $y) = map { [map { s/^-(0\.0+)$/$1/r } got($r, $_)] } @sources;
        my @wanted = map { "$x->[$_] $y->[$_]" } 0 .. $#$x;
        $is->("@products" eq "@wanted", "multiplies @products, not @wanted");
    }
    return @faults;
}

my @asked = (
    (map { "stage=$_" } qw(shares roles scale texts translation mask dropout heads output all)),
    'stage=shares words=Hello+dog word=dog score1=-inf', 'stage=scale words=Schöne+Grüße,+你好+@table d_k=1 scale=0.5',
    'stage=texts words=a others=1+2+1 d_k=3', 'stage=mask hide=weights mask=window window=2',
    'stage=dropout p=1', 'stage=heads heads=3 d_k=1 d_v=2 mask=causal', 'stage=output heads=4 d_out=4 p=0.2 mask=none',
    'stage=all others=is+there+more p=0.3 heads=3 d_out=2 hide=weights mask=window window=1',
);
is_deeply [grep { defined } (faults($workbench, $_))[0 .. 4]], [], "$_: every entry is explained" for @asked;

# ---- A mistake in an explanation is noticed, whichever it is.

my %mistake = (
    'the wrong row' => ['workbench_explain.c', sub { s/(bench_row_of\(b, right, c\.h, c\.)j/${1}i/ }],
    'the wrong row, and the wrong source' => ['workbench_explain.c',
        sub { s/(bench_row_of\(b, right, c\.h, c\.)j/${1}i/; s/(bench_from\(right, c\.h, c\.)j/${1}i/ }],
    'the wrong source' => ['workbench_explain.c', sub { s/(bench_from\(value, c\.h, -1, )c\.j/${1}0/ }],
    'a wrong random number'      => ['workbench_explain.c', sub { s/\(c\.h \* b->n \+ c\.i\) \* b->m \+ c\.j/(c.h * b->n + c.j) * b->m + c.i/ }],
    'a product left out' => ['workbench_say.c', sub { s/(const int alone = .*?for \(int k = )0/${1}1/s }],
);
for my $name (sort keys %mistake) {
    my $wrong = built($name =~ tr/ ,/_/dr, 'workbench', @{$mistake{$name}});
    ok scalar(map { faults($wrong, $_) } 'stage=roles', 'stage=dropout'), "$name is noticed";
}

# ---- Settings: what is printed can be given back, and gives the same.

for my $args ('stage=shares', 'stage=roles words=dog+likes+fish', 'stage=texts', 'stage=dropout p=0.25',
    'stage=mask mask=window hide=weights', 'stage=output', 'stage=all others=a+b scale=3') {
    my @words = map { tr/+/ /r } split ' ', $args;
    my $r = run($workbench, \@words);
    my $again = run($workbench, [$words[0], map { "$_=$r->{setting}{$_}" } sort keys %{$r->{setting}}]);
    is_deeply $again->{lines}, $r->{lines}, "$args: its settings give it again";
    is_deeply [grep { !defined $r->{label}{$_} } keys %{$r->{setting}}], [], '... and have labels';
}
is_deeply run($workbench, ['stage=roles', 'words=dog likes bird dog'])->{note},
  [q(Chapter 3 has no numbers for 'dog', 'bird': their rows are drawn as in chapter 5, from seed 123.)],
  'words without numbers are named, each once';
is_deeply run($workbench, ['stage=roles', 'words=dog likes fish'])->{note},
  [q(Chapter 3 has no numbers for 'dog': its row is drawn as in chapter 5, from seed 123.)],
  'a word without numbers is named';
is_deeply run($workbench, ['stage=roles'])->{note}, undef, '... and no other';
is_deeply run($workbench, ['words=The cat the', 'seed=7'])->{note},
  ["Seed 7 draws the embedding of every word, and the matrices. Without training, they mean nothing. "
      . "'The' and 'the' are two words."], "where words' numbers come from, and that case counts";
is run($workbench, ["words=é 你好 \x{1F600} &<"])->{status}, 0, 'other characters are words';
is_deeply run($workbench, [])->{lines}, run($workbench, ['stage=all'])->{lines}, 'all is the stage without one';

is scalar(grep { /= 1\.0000$/ } @{run($workbench, ['words=sun', 'ask=weights:0:0:0'])->{asked}[0]{text}}), 1,
  'one number is not added up';
is run($workbench, ['ask=weights:00:01:2'])->{asked}[0]{cell}, 'weights 0 1 2', 'a number is explained by its plain name';

# ---- Refusals: one line, status 2.

my %refused = (
    'stage=none' => q(stage is 'none': one of shares, roles), 'words' => q('words': KEY=VALUE is needed),
    'stage=roles p=0.5' => q(stage=roles has no setting 'p': one of words), 'words=' => 'the text has 0 words: 1 to 12 are needed',
    'words=' . 'a+' x 13 => '13 words: 1 to 12 are needed', "words=a\x01b+c" => 'word 1 has U\+0001: characters that can be printed',
    "words=a\xEF\xBF\xBF" => 'U\+FFFF', "words=\xC2\x85" => 'U\+0085', "others=\x7F" => 'word 1 has U\+007F',
    (map { ("words=a$_" => 'byte 0x\w\w where no character begins: UTF-8') } "\xFF", "\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80"),
    'words=' . 'a' x 40 => 'word 1 has 40 characters: at most 31 fit', 'seed=-1' => q(seed is '-1'), 'd_v=9' => 'from 1 to 8',
    'stage=output heads=3' => 'a divisor of 8 is needed', 'scale=0' => q(scale is '0': root, or a number above 0),
    'scale=nan' => 'above 0', 'mask=past' => q(mask is 'past': none, causal or window is needed),
    'hide=x' => q(hide is 'x': scores or weights is needed), 'window=0' => q(window is '0'), 'p=1.5' => 'from 0 to 1 is needed',
    'stage=shares word=moon' => q('moon', which is not in the text), 'stage=shares score1=nan' => 'score1 is nan',
    'stage=shares score13=1' => 'from 1 to 12', 'ask=kept:0:0:0' => q(ask is for table 'kept': one of embeddings,),
    'ask=weights:0:0' => q(ask is 'weights:0:0': TABLE:HEAD:ROW:COLUMN), 'ask=weights:0:6:0' => q(ask is for row '6': the table has 6, counted from 0),
    'ask=mask:0:0:0' => '- is needed', 'ask=' . 'x' x 50 . ':0:0:0' => 'TABLE:HEAD:ROW:COLUMN',
);
for my $args (sort keys %refused) {
    my $line = `$workbench @{[map { "'" . tr/+/ /r . "'" } split ' ', $args]} 2>&1 >$folder/out`;
    is $? >> 8, 2, (substr $args, 0, 30) . ' is refused';
    like $line, qr/\A\w+\.c: \w+: .*$refused{$args}.*\n\z/, '... in one line that says why';
}

done_testing;
