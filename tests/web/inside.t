#!/usr/bin/env perl
# The trained models of the workbench: the language model's logits are those of
# chapter 23's program; every number of every step comes of its sources, when they are put
# together here; heads that are off, masks, the cache and what is written do what
# the page says, number by number; and what makes no sense is refused.

use strict;
use warnings;
use utf8;
use File::Temp qw(tempdir);
use List::Util qw(sum max);
use Test::More;
use lib 'tests/web';
use Built;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $build  = $ENV{BUILD} // 'build';
my $model  = 'src/models/language.safetensors';
my $folder = tempdir(CLEANUP => 1);
delete @ENV{qw(DIGITS FIGURES MODELS)};

# ---- The program, with a mistake, if one is planted; and what it prints, taken apart.

my $inside = built('inside', 'inside');

# Tables by "id head": the printed rows by their numbers; settings, maps, notes, answers.
sub run {
    my ($program, @args) = @_;
    open my $pipe, '-|:encoding(UTF-8)', $program, @args or die "$program: cannot be run: $!\n";
    my (%r, $rows, $row);
    while (my $line = <$pipe>) {
        chomp $line;
        push @{$r{lines}}, $line;
        if    ($line =~ /^\@words (.*)/)              { $r{words}        = [split ' ', $1] }
        elsif ($line =~ /^\@names (\S+) (.*)/)        { $r{names}{$1}    = [split ' ', $2] }
        elsif ($line =~ /^\@(setting|label) (\S+) (.*)/) { $r{$1}{$2} = $3 }
        elsif ($line =~ /^\@note (.*)/)               { push @{$r{note}}, $1 }
        elsif ($line =~ /^\@explain (.*)/)            { push @{$r{asked}}, {cell => $1, text => [], source => []} }
        elsif ($line =~ /^\@source (.*)/)             { push @{$r{asked}[-1]{source}}, $1 }
        elsif ($line =~ /^\@table (\S+ \S+) /)        { $rows = $r{table}{$1} = {} }
        elsif ($line =~ /^\@row (\d+)/)               { $row = $1 }
        elsif ($line =~ /^\@map (\S+) (on|off) (\S+) (\S+)/) {
            undef $rows;
            $r{map}{$1} = {state => $2, before => $3, followed => $4, lines => $row = []};
        }
        elsif ($line !~ /^@/ && ref $row) { push @$row, $line }
        elsif ($line !~ /^@/ && $rows && defined $row) { $rows->{$row} = [split ' ', $line]; undef $row }
        elsif ($line !~ /^@/ && !$rows && $r{asked}) { push @{$r{asked}[-1]{text}}, $line }
        else                                          { push @{$r{stray}}, $line }
    }
    close $pipe;
    $r{status} = $? >> 8;
    return \%r;
}

# ---- The logits of chapter 23's program, and 60 tokens that it writes.

my @chapter = ("$build/chapters/23_language_model", $model);
for my $words ('The ', 'One kiwi, two plums, one ki', 'q', '~{|', 'The mask hides the future. ' x 4) {
    local $ENV{DIGITS} = 9;
    my @ids    = map {ord} split //, $words;
    my $r      = run($inside, "words=$words", 'ask=output:-:' . $#ids . ':0');
    my $wanted = join ' ', `@chapter @ids`;
    my @wanted = $wanted =~ /-?\d+\.\d+/g;
    my $ours   = $r->{table}{'output -'}{$#ids};
    is scalar @wanted, 128, "'$words': chapter 23 prints all logits";
    cmp_ok max(map { abs $ours->[$_] - $wanted[$_] } 0 .. 127), '<', 2e-5, '... and the page has the same';
}

# ---- Every entry of some rows, from its sources: what each step is, computed here.

sub sigmoid { 1 / (1 + exp -$_[0]) }

# Entry [i][j] of a step, from the printed rows of other steps.
sub made {
    my ($r, $id, $h, $i, $j) = @_;
    my ($block, $name) = $id =~ /^(?:(\d)\.)?(\w+)$/;
    my $own = defined $block ? "$block." : '';
    my $row = sub { my ($step, $k, $head) = @_; $r->{table}{"$step " . ($head // '-')}{$k} // die "no row $k of $step" };
    my $of_layer = sub {
        my ($x) = map { $row->($_, $i) } @_;
        my $w = $row->("$own$name.weight", $j);
        my $bias = $r->{table}{"$own$name.bias -"};
        return ($bias ? $bias->{0}[$j] : 0) + sum map { $x->[$_] * $w->[$_] } 0 .. $#$w;
    };
    my $normed = sub {
        my $x    = $row->($_[0], $i);
        my $mean = sum(@$x) / @$x;
        my $root = sqrt(sum(map { ($_ - $mean)**2 } @$x) / @$x + 1e-5);
        return ($x->[$j] - $mean) / $root * $row->("$own$name.weight", 0)->[$j] + $row->("$own$name.bias", 0)->[$j];
    };
    my $in = !$block ? 'sum' : ($block - 1) . '.after';
    my $is_gpt = $r->{setting}{stage} eq 'language';
    my $d = $is_gpt ? 28 : 16;
    my %id = map { $r->{names}{tokens}[$_] => $_ } 0 .. $#{$r->{names}{tokens}};
    my @ids = @id{@{$r->{words}}};
    my $asked = $r->{setting}{stage} eq 'repeated' ? 'both' : 'embeddings';
    my $softmax = sub { my ($x) = @_; my $most = max @$x; exp($x->[$j] - $most) / sum map { exp($_ - $most) } @$x };
    my $x;
    return {
        embeddings => sub { $row->('tokens', $ids[$i])->[$j] },
        before     => sub { $row->('tokens', $i ? $ids[$i - 1] : $id{'-'})->[$j] },
        both       => sub { $j < 16 ? $row->('embeddings', $i)->[$j] : $row->('before', $i)->[$j - 16] },
        places     => sub { $row->('positions', $i)->[$j] },
        sum        => sub { $row->($asked, $i)->[$j] + $row->('places', $i)->[$j] },
        norm_1     => sub { $normed->($in) },
        (map { my $small = $_ eq 'query' ? 'embeddings' : 'sum'; $_ => sub { $of_layer->($is_gpt ? "${own}norm_1" : $small) } }
            qw(query key value)),
        scores => sub {
            my ($q, $k) = ($row->("${own}query", $i), $row->("${own}key", $j));
            return $j > $i + $r->{sees} ? -9**9**9 : sum(map { $q->[$_] * $k->[$_] } $d * $h .. $d * $h + $d - 1) / sqrt $d;
        },
        weights => sub { $softmax->($row->("${own}scores", $i, $h)) },
        context => sub {
            my $w = $row->("${own}weights", $i, int $j / $d);
            return sum map { $w->[$_] * $row->("${own}value", $_)->[$j] } 0 .. $#$w;
        },
        out     => sub { $of_layer->("${own}context") },
        between => sub { $row->($in, $i)->[$j] + $row->("${own}out", $i)->[$j] },
        norm_2  => sub { $normed->("${own}between") },
        up      => sub { $of_layer->("${own}norm_2") },
        gelu    => sub { $x = $row->("${own}up", $i)->[$j]; $x * sigmoid(sqrt(8 / (4 * atan2 1, 1)) * ($x + 0.044715 * $x**3)) },
        down    => sub { $of_layer->("${own}gelu") },
        after   => sub { $row->("${own}between", $i)->[$j] + $row->("${own}down", $i)->[$j] },
        norm    => sub { $normed->('1.after') },
        output  => sub {
            return $of_layer->('0.context') if !$is_gpt;
            my ($y, $w) = ($row->('norm', $i), $row->('output.weight', $j));
            return sum map { $y->[$_] * $w->[$_] } 0 .. $#$w;
        },
        shares  => sub {
            my ($t, @logits) = ($r->{setting}{temperature}, @{$row->('output', $i)});
            my $least = (sort { $b <=> $a } @logits)[($t == 0 ? 1 : $r->{setting}{top_k} || @logits) - 1];
            return $softmax->([map { $_ < $least ? -9**9**9 : $_ / ($t || 1) } @logits]);
        },
        next    => sub { $row->('shares', $#ids)->[$id{$r->{names}{best}[$j]}] },
    }->{$name}->();
}

my $given = 'abcab';
my @cells = ('next:-:0:2', 'next:-:0:9', map { ("shares:-:$_:98", "output:-:$_:3", "norm:-:$_:50", "sum:-:$_:7",
    "embeddings:-:$_:9", "places:-:$_:8", map { my ($l, $i) = ($_ % 2, int $_ / 2);
        ("$l.norm_1:-:$i:5", "$l.query:-:$i:30", "$l.key:-:$i:111", "$l.value:-:$i:0", "$l.context:-:$i:60", "$l.out:-:$i:11",
         "$l.between:-:$i:2", "$l.norm_2:-:$i:77", "$l.up:-:$i:447", "$l.gelu:-:$i:200", "$l.down:-:$i:4", "$l.after:-:$i:110",
         (map { ("$l.scores:$_:$i:1", "$l.weights:$_:$i:0") } 0 .. 3)) } 2 * $_, 2 * $_ + 1) } 0, 1, 4);

# The same of a model of chapter 21.
my @small = map { my $i = $_; ('shares:-:' . "$i:3", "output:-:$i:9", "embeddings:-:$i:15", "sum:-:$i:7", "places:-:$i:0", "0.query:-:$i:3",
    "0.key:-:$i:11", "0.value:-:$i:0", "0.context:-:$i:5", map { ("0.scores:0:$i:$_", "0.weights:0:$i:$_") } 0 .. 3) } 0, 3, 6;
my %cells = (language => \@cells, verbs => [@small, 'next:-:0:1'],
    repeated => [@small, 'next:-:0:9', map { ("before:-:$_:4", "both:-:$_:3", "both:-:$_:20", "sum:-:$_:31") } 0, 1, 6]);

# All faults of these answers.
sub faults {
    my ($program, @settings) = @_;
    my ($stage) = map { /^stage=(.*)/ ? $1 : () } @settings, 'stage=language';
    my @cells = @{$cells{$stage}};
    my @args = ($stage eq 'language' ? "words=$given" : (), @settings, map {"ask=$_"} @cells);
    my ($r, $short) = map { local $ENV{DIGITS} = $_; run($program, @args) } 9, 4;
    $r->{sees}  = {causal => 0, next => 1, all => 9}->{$r->{setting}{mask}};
    my @faults = @{$r->{asked} // []} == @cells ? () : 'not all are answered';
    for my $k (0 .. $#cells) {
        my ($id, $h, $i, $j) = split /:/, $cells[$k];
        my $answer = $r->{asked}[$k] or next;
        push @faults, "$cells[$k]: answered $answer->{cell}" if $answer->{cell} ne "$id $h $i $j";
        for my $either ($r, $short) {
            my $entry = $either->{table}{"$id $h"}{$i}[$j];
            my ($last) = grep { !/^\(All digits/ } reverse @{$either->{asked}[$k]{text}};
            push @faults, "$cells[$k]: ends '$last', is $entry" if $last !~ /(?:^|\s)\Q$entry\E$/;
        }
        my $is   = $r->{table}{"$id $h"}{$i}[$j] =~ s/inf/9**9**9/er;
        my $made = eval { made($r, $id, $h, $i, $j) };
        push @faults, "$cells[$k]: $@" if !defined $made;
        push @faults, "$cells[$k] is $is, made of its sources $made"
          if defined $made && $is ne $made && !(abs($is - $made) < 2e-5 * (1 + abs $made));
        push @faults, map {"$cells[$k]: $_"} grep { !holds($_, 2e-6) } @{$answer->{text}};
        # What is shown gives another last digit only where that is said.
        my @text = @{$short->{asked}[$k]{text}};
        push @faults, map {"$cells[$k]: as shown, $_"} grep { !holds($_, 5.1e-5) } @text if !grep {/^\(All digits/} @text;
        # Each product that is told of is one of its sources' numbers.
        my ($x, $y) = map { [got($r, $_)] } @{$answer->{source}};
        my @told = map { /^(\S+) × (\S+) = \S+, / ? "$1 $2" : () } @{$answer->{text}};
        my @both = $id =~ /context$/ || @told == 0 ? () : map { "$x->[$_] $y->[$_]" } 0 .. $#$x;
        push @faults, "$cells[$k]: multiplies @told, not @both" if @both && $id !~ /gelu|norm/ && "@told" ne "@both";
    }
    return @faults;
}

# Whether a line's calculation gives what stands behind its last "=".
sub holds {
    my ($left, $right) = $_[0] =~ /^([-\d.\s×\/+()e^]+) = (-?[\d.]+)(?:,|$)/ or return 1;
    $left =~ s/×/*/g;
    $left =~ s/e\^(\(.*?\)|-?[\d.]+)/exp($1)/g;
    return abs(eval($left) - $right) < $_[1] * (1 + ($_[1] < 1e-5) * abs $right);
}

sub got {
    my ($r, $source) = @_;
    my ($id, $head, $i, $j) = split ' ', $source;
    my $rows = $r->{table}{"$id $head"};
    return map { my $row = $rows->{$_}; $j eq '*' ? @$row : @$row[split /,/, $j] } $i eq '*' ? sort { $a <=> $b } keys %$rows : $i;
}

for my $settings (['stage=repeated'], ['stage=verbs'], ['stage=repeated', 'mask=next', 'words=abcabcab', 'temperature=2'],
    ['stage=verbs', 'off=0.0', 'top_k=2', 'words=the small bird near the mice _'], ['temperature=0.7'], ['off=0.1,1.3'], ['mask=next'], ['mask=all'], ['top_k=3', 'temperature=1.5'], ['temperature=0']) {
    is_deeply [grep {defined} (faults($inside, @$settings))[0 .. 4]], [],
      "@$settings: entries of all steps are made of their sources";
}

my %mistake = (
    'the wrong row of a weight' => ['inside_explain.c', sub { s/\(ptrdiff_t\)p\.j \* l->d_in/(ptrdiff_t)p.i * l->d_in/ }],
    'the wrong source' => ['inside_explain.c', sub { s/from_some\(s->from\[1\], p\.j, 0/from_some(s->from[1], p.i, 0/ }],
    'a sum that takes the wrong table' => ['inside_steps.c', sub { s/"after", "sum after the network", between/"after", "sum after the network", norm_2/ }],
    'a GELU that keeps all'            => ['inside_explain.c', sub { s/0\.044715/0.44715/ }],
    'the word itself for the word before' => ['inside_steps.c', sub { s/in->ids\[i - 1\]/in->ids[i]/ }],
    'words in the wrong half'          => ['inside_steps.c', sub { s/memcpy\(s->x \+ i \* m, a->x/memcpy(s->x + i * m, b->x/ }],
    'a norm without its mean'          => ['inside_explain.c', sub { s/mean \+= \(double\)x\[k\] \/ l->d/mean += 0 * (double)x[k]/ }],
);
for my $name (sort keys %mistake) {
    my $stage = $name =~ /word/ ? 'repeated' : 'language';
    ok scalar(faults(built($name =~ tr/ /_/r, 'inside', @{$mistake{$name}}), "stage=$stage", 'temperature=0.7')), "$name is noticed";
}

# ---- Maps: the weights of every head, as two digits of 16; and what it does.

my $kiwi = 'One kiwi, two plums, one ki';
my $n    = length $kiwi;
my $r    = run($inside, "words=$kiwi", map {"ask=1.weights:1:$_:0"} 0 .. $n - 1);
for my $head (map { ("0.$_", "1.$_") } 0 .. 3) {
    local $ENV{DIGITS} = 9;
    my $rows = run($inside, "words=$kiwi", "head=$head")->{table}{$head =~ s/\./.weights /r};
    is_deeply $r->{map}{$head}{lines},
      [map { join '', map { sprintf '%02x', $_ * 255 + 0.5 } @{$rows->{$_}} } 0 .. $n - 1], "the map of head $head has its weights";
}
my @weights = map { $r->{table}{'1.weights 1'}{$_} } 0 .. $n - 1;
cmp_ok abs(sum(map { $weights[$_][$_ - 1] } 1 .. $n - 1) / ($n - 1) - $r->{map}{'1.1'}{before}), '<', 6e-4, '... the token before';
# ", " stands twice, with "o" and "t" behind it; ", one" is not there before; " ki" is.
my %from = map { my $i = $_; my $best; for my $size (reverse 2 .. $i) {
    my $at = rindex substr($kiwi, 0, $i), substr($kiwi, $i + 1 - $size, $size);
    if ($at >= 0) { $best = $at + $size; last } } defined $best ? ($i => $best) : () } 0 .. $n - 1;
cmp_ok abs(sum(map { $weights[$_][$from{$_}] } keys %from) / keys(%from) - $r->{map}{'1.1'}{followed}), '<', 6e-4, '... and what followed';
is run($inside, 'words=abc')->{map}{'0.0'}{followed}, '-1.000', 'where nothing has stood before, nothing followed';

# ---- What the page says of its seven things to try holds, number by number.

open my $book, '<:encoding(UTF-8)', 'book.md' or die "book.md: $!\n";
my ($section) = join('', <$book>) =~ /^## Seven things to try.*?\n(.*?)^## /ms or die "book.md has no seven things\n";
my @things = split /^\d+\. /m, $section;
shift @things;
is scalar @things, 7, 'seven things to try';
for my $thing (@things) {
    my ($title) = $thing =~ /\*\*(.*?)\*\*/;
    # What stands behind a link is said of its state.
    my (undef, @parts) = split /\{state="(stage=.*?)"\}/s, $thing;
    ok scalar @parts, "$title: has a link";
    while (my ($state, $text) = splice @parts, 0, 2) {
        my @args = map { s/\+/ /gr } split /&/, $state;
        my $r    = run($inside, @args);
        is $r->{status}, 0, "... that can be shown: $state";
        my %share = map { $r->{names}{best}[$_] => $r->{table}{'next -'}{0}[$_] } 0 .. 9;
        my $said  = 0;
        while ($text =~ /\*(\S+)\*\s+has\s+the\s+share\s+(0\.\d+)/g) { is $share{$1}, $2, "... *$1* has $2"; $said++ }
        while ($text =~ /head\s+(\d\.\d)\s+has\s+(0\.\d+)\s+on\s+what/g) { is $r->{map}{$1}{followed}, $2, "... $1 has $2"; $said++ }
        while ($text =~ /the\s+loss(?:\s+of\s+the\s+text)?\s+is\s+(\d\.\d+)/g) { like "@{$r->{note}}", qr/loss of this text is \Q$1\E\./, "... loss $1"; $said++ }
        while ($text =~ /\*(\S+)\*\s+is\s+not\s+among/g) { ok !exists $share{$1}, "... no *$1*" }
        while ($text =~ /"(The [^"]{20,})"/g) {
            is join('', @{$r->{words}}[0 .. length($1) - 1]), $1 =~ tr/ /␣/r, "... writes '$1'";
            like $r->{note}[0], qr/written: \Q@{[substr $1 =~ tr{ }{␣}r, 4]}\E/, '... and says so';
        }
        is $said, scalar(() = $text =~ /\d\.\d{3,}/g), '... which are all numbers that it tells of' if $text =~ /\d\.\d{3}/;
    }
}
cmp_ok run($inside, 'way=cached')->{note}[-1] =~ /at most (\S+)\.$/ ? $1 : 9, '<', 3e-5, 'token by token, the logits are the same';
{
    local $ENV{DIGITS} = 9;
    my ($whole, $leaky) = map { run($inside, 'words=The mask hides the future. The mask h', "mask=$_") } qw(causal next);
    cmp_ok $leaky->{table}{'next -'}{0}[0], '<', $whole->{table}{'next -'}{0}[0], 'with a leak, the last share is less';
    is_deeply [grep { $r->{map}{$_}{before} > $r->{map}{'0.2'}{before} } keys %{$r->{map}}], [], 'head 0.2 looks most at the token before';
    like run($inside, 'words=abcdef', 'mask=all')->{map}{'1.1'}{lines}[0], qr/^..0*[1-9a-f]/, 'without the mask, a map is filled above its diagonal';
    my ($longer, $short) = map { run($inside, "words=$kiwi", @$_)->{table}{'1.weights 1'} } ['write=5'], [];
    ok !(grep { abs($longer->{$_ / $n % $n}[$_ % $n] - $short->{$_ / $n % $n}[$_ % $n]) > 1e-5 } 0 .. $n * $n - 1),
      'rows that were there stay as they were';
    for (['dogs', 'child'], ['dog', 'children']) {
        my $blank = run($inside, 'stage=verbs', "words=the $_->[0] near the old $_->[1] _")->{table}{'0.weights 0'}{6};
        cmp_ok $blank->[1], '>', 0.99, "the blank looks at $_->[0]";
    }
    my $row = run($inside, "words=$kiwi", 'head=1.0')->{table}{'1.weights 0'}{$n - 1};
    is max(map { $_ == 6 ? () : $row->[$_] } 0 .. $n - 1) < $row->[6], 1, 'most of the last row of head 1.0 lies on the w';
}

# ---- The pictures of the printed page have the numbers of both states.

sub drawn {
    my ($draw, @args) = @_;
    local $ENV{FIGURES} = $folder;
    my $stage = (run($inside, "draw=$draw", @args))->{setting}{stage};
    open my $file, '<:encoding(UTF-8)', "$folder/$stage-$draw.svg" or return "no $stage-$draw.svg";
    my ($description) = join('', <$file>) =~ /<desc.*?>(.*?)<\/desc>/s;
    return $description;
}
my @both = map { run($inside, "words=$kiwi", @$_) } [], ['off=0.2'];
my @panels = ('with all heads', 'without head 0.2');
is drawn('looks', "words=$kiwi", 'off=0.2', 'head=1.1'), join('', map {
    my ($words, $row) = ($both[$_]{words}, $both[$_]{table}{'1.weights 1'}{$n - 1});
    "$panels[$_]. " . join '', map { "$words->[$_] $row->[$_]" . (($_ + 1) % 9 ? ', ' : '. ') } 0 .. $n - 1 } 0, 1),
  'what the last token looks at, in lines of nine';
my @likely = map { my $r = $_; +{map { $r->{names}{best}[$_] => $r->{table}{'next -'}{0}[$_] } 0 .. 9} } @both;
my @shown = map { @{$_->{names}{best}}[0 .. 2] } @both;
my $bars = drawn('next', "words=$kiwi", 'off=0.2');
is_deeply [map {"$_"} $bars =~ /[:,] (\S) \d/g], [@shown, @shown], 'three of either state are drawn';
for my $k (0, 1) {
    my ($panel) = $bars =~ /$panels[$k]: (.*?\d)\. /;
    my %bar = map { split ' ' } split /, /, $panel;
    is_deeply [grep { exists $likely[$k]{$_} && $bar{$_} != $likely[$k]{$_} } @shown], [], "... $panels[$k], with their shares";
}
like drawn('looks', 'stage=verbs'), qr/\Awith all heads\. the 0\.0000, dogs 1\.0000, /, 'where no head is off, there is one panel';
like drawn('next', 'stage=repeated'), qr/\Awith all heads: a /, '... of three answers';
like drawn('looks', 'off=0.1,0.2', 'words=' . 'a' x 11), qr/without heads 0\.1,0\.2\. (a [.\d]+\. ){11}\z/, 'eleven have lines of one';

# ---- The short form for a terminal says the same.

for my $args (["words=$kiwi", 'off=0.2', 'head=1.0'], ['stage=verbs'], ['words=ab'], ['write=5', 'temperature=0'], ['mask=next'], ['way=cached'], ['stage=repeated', 'words=abc']) {
    my $r = run($inside, @$args);
    my ($block, $head) = split /\./, $r->{setting}{head};
    my $row  = $r->{table}{"$block.weights $head"}{$#{$r->{words}}};
    my $short = run($inside, '--short', @$args);
    my $said  = join '', map {"$_\n"} @{$short->{stray}};
    is $short->{status}, 0, "--short @$args can be printed";
    my $of   = sub { join ' ', map {"$_[0][$_] $_[1][$_]"} 0 .. $#{$_[0]} };
    my @parts = split /(?:^|\n)(?:the largest shares|what the last token looks at in head $block\.$head|heads: .*?)\n/, $said;
    is_deeply [map { s/\s+/ /gr =~ s/ $//r } @parts], [join(' ', @{$r->{note}}), $of->($r->{names}{best}, $r->{table}{'next -'}{0}),
        $of->($r->{words}, $row), join ' ', map { my $m = $r->{map}{$_};
            ($_, $m->{state}, map { $_ < 0 ? '-' : $_ } @$m{qw(before followed)}) } sort keys %{$r->{map}}], "... and says the same";
}

# ---- Settings: what is printed gives the same again; the largest, the coldest.

for my $args (['stage=verbs', 'words=the old dog near the mice _', 'off=0.0'], ['stage=repeated', 'top_k=3'], ['off=0.1,1.3', 'head=0.2'], ['write=5', 'top_k=3', 'temperature=0.5', 'seed=9'], ['mask=next'], ['way=cached']) {
    my $r = run($inside, @$args);
    my $again = run($inside, map {"$_=$r->{setting}{$_}"} sort keys %{$r->{setting}});
    is_deeply $again->{lines}, $r->{lines}, "@$args: its settings give it again";
}
my @cold = grep { $_ > 0 } map { @{run($inside, "temperature=$_")->{table}{'next -'}{0}} } 0;
is_deeply \@cold, ['1.0000'], 'a temperature of 0 takes the largest';
is scalar(grep { $_ > 0 } @{run($inside, 'top_k=3')->{table}{'next -'}{0}}), 3, 'three are kept';
for my $text ('The ', $kiwi) {
    my $sampled = run($inside, "words=$text", 'write=40', 'temperature=0.8');
    my $wanted = `$chapter[0] --write 40 $model @{[map {ord} split //, $text]}` =~ s/\n\z//r;
    is join('', @{$sampled->{words}}), $wanted =~ tr/ \n/␣↵/r, "'$text' is written on as by chapter 23";
}
is_deeply run($inside, 'stage=verbs', 'words=  the old dog  near the cat _ ')->{words}, [qw(the old dog near the cat _)], 'blanks between words do not count';
like run($inside, 'stage=verbs', 'mask=all')->{note}[-1], qr/^A token sees what comes after it\./, 'no token sees the verb';
like run($inside, 'stage=repeated', 'words=abcd')->{note}[-1], qr/^The last letter has not stood before\./, 'the first letters have no answer';
unlike "@{run($inside, 'stage=repeated', 'words=abcda')->{note}}", qr/not stood/, '... and later ones have';
for (['repeated', 'verbs', 'd_x, d_y = 16, 16: a d_y of 32'], ['verbs', 'repeated', 'd_x, d_y = 16, 32: a d_y of 16'],
    ['language', 'verbs', "'wte.weight'"], ['verbs', 'language', "'token.weight'"]) {
    my ($stage, $other, $says) = @$_;
    mkdir "$folder/models";
    unlink "$folder/models/$stage.safetensors";
    symlink "$ENV{PWD}/src/models/$other.safetensors", "$folder/models/$stage.safetensors";
    like `MODELS=$folder/models $inside stage=$stage 2>&1`, qr/\A\w+\.c: [^\n]*\Q$says\E[^\n]*\n\z/, "$stage: the model of $other is refused";
}
is run($inside, 'off=1.0', 'off=1.1')->{setting}{off}, '1.0,1.1', 'heads that are off add up';

# ---- What makes no sense.

my %refused = (
    'words=' => 'the text has 0 characters', 'words=' . 'a' x 129 => '129 characters', "words=a\tb" => 'character 2 has byte 0x09',
    "words=\xC3\xA9" => 'character 1 has byte 0xC3', "write=64 'words=" . 'a' x 65 . "'" => 'from 1 to 128 in all', 'head=2.0' => 'head 2.0: the model has blocks 0 to 1', 'stage=scale' => q(stage is 'scale': language, repeated or verbs is needed), 'write=65' => 'write', 'write=2 mask=all' => 'write is 2: mask=causal',
    'head=1' => q(a head is '1'), 'head=1.0,1.1' => 'a single head is needed', 'off=1.0;1.1' => q(stands ';1.1': a comma), 'off=0.7' => 'of heads 0 to 3', 'off=1.0,' => q(a head is ''), 'head=4.0' => 'below 4 and 8',
    'mask=window' => q(mask is 'window': causal, next or all), 'way=fast' => q(way is 'fast': whole or cached), "'way=cached' mask=all" => 'mask=causal is needed',
    'temperature=-1' => 'from 0.01 to 2', 'temperature=0.001' => 'from 0.01 to 2', 'temperature=nan' => 'from 0.01', 'top_k=21' => 'top_k', 'p=1' => q(there is no setting 'p'), 'ask=next:0:0:0' => '- is needed',
    'ask=next:-:1:0' => q(the row is '1'), 'ask=0.weights:4:0:0' => q(the head is '4'), 'ask=weights:0:0:0' => q(table 'weights'), 'ask=x' => 'TABLE:HEAD:ROW:COLUMN',
    'plain' => 'KEY=VALUE, or --short, is needed', '--short=1' => q(there is no setting '--short'), "--short 'ask=next:-:0:0'" => 'ask is given with --short', 'draw=all' => q(draw is 'all': looks or next is needed),
    "'stage=verbs' 'words=the dogs bark'" => q(there is no word 'bark'), "'stage=verbs' 'words=" . 'the ' x 7 . "_'" => 'the text has 8 words',
    "'stage=verbs' 'words=the dog sleeps'" => q(there is no word 'sleeps'), "'stage=verbs' 'words= the dog'" => q(the sentence has 0 blanks and ends in 'dog'),
    "'stage=verbs' 'words=the _ dog _'" => 'has 2 blanks', "'stage=verbs' 'words= '" => 'the text has 0 words', "'stage=repeated' words=" => 'the text has 0 characters',
    "'stage=verbs' top_k=20" => 'top_k is 20: from 0 to 19', "'stage=repeated' top_k=18" => 'top_k is 18: from 0 to 17',
    "'stage=repeated' words=abq" => q(character 3 is 'q': letters from a to p), "'stage=repeated' write=2" => 'write=0 and way=whole are needed',
    "'stage=verbs' head=1.0" => 'the model has blocks 0 to 0',
);
for my $args (sort keys %refused) {
    my $quoted = $args =~ /'|write=2/ ? $args : "'$args'";
    my $line = `$inside $quoted 2>&1 >$folder/out`;
    is $? >> 8, 2, (substr $args, 0, 30) =~ s/[^ -~]/?/gr . ' is refused';
    like $line, qr/\A\w+\.c: \w+: .*\Q$refused{$args}\E.*\n\z/, '... in one line that says why';
}

done_testing;
