#!/usr/bin/env perl
# What every chapter has, and what the header promises: hints and solutions,
# one version in PyTorch, lines that fit, functions that exist and are tested,
# figures that hold the program's own numbers, a length that can be read at one
# sitting; and that chapters are a stair.

use strict;
use warnings;
use File::Basename qw(basename);
use List::Util qw(any);
use Chapter;
use Headers;
use Test::More;
use Text;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $build = $ENV{BUILD} // 'build';

sub none { my ($name, @wrong) = @_; is join("\n", @wrong), '', $name }

# ---- Chapters.

# What can be read at one sitting: words, lines that teach, and lines of code in all.
my ($few_words, $words_most, $open_most, $code_most) = (1000, 2500, 150, 400);

my (@known, %is_known);
for my $path (sort glob 'chapters/*.c') {
    my $chapter = Chapter->load($path);
    my ($name, $lines, $kind) = @$chapter{qw(name lines kind)};
    my $code = join "\n", @$lines[grep { $kind->[$_] eq 'code' } 0 .. $#$lines];
    my @wrong;
    for my $exercise (@{$chapter->{exercises}}) {
        my ($id, $function, $line) = @$exercise{qw(id function line)};
        my ($text) = join("\n", @$lines[$line .. $#$lines]) =~ m{^(.*?)(?=\n\*\*Exercise |\n\*/|\n## |\z)}s;
        my $hints  = () = $text =~ /^::: hint$/mg;
        my $solved = grep { $_ eq "::: {.solution exercise=\"$id\"}" } @$lines;
        my $apart  = !$function || $exercise->{about} =~ /challenge/;
        push @wrong, "exercise $id has $hints hints" if $function && ($hints < 1 || $hints > 3);
        my @done = map { [@$lines[$_->[0] + 1 .. $_->[1] - 1]] } $chapter->below($exercise, 'done');
        my $words = () = join(' ', map { @$_ } @done) =~ /\S+/g;
        push @wrong, "exercise $id says " . @done . " times, in $words words, what is gained when it is done"
          if $function && (@done != 1 || $words < 8 || $words > 30);
        push @wrong, "exercise $id has $solved solutions at the end" if $solved != ($apart ? 1 : 0);
        push @wrong, "exercise $id is worth no points" if $function && !$exercise->{points};
        my ($answer) = grep { $lines->[$_->[0]] eq "::: {.solution exercise=\"$id\"}" } @{$chapter->{divs}};
        push @wrong, "the solution of exercise $id says nothing"
          if $answer && !grep { /\w/ } @$lines[$answer->[0] + 1 .. $answer->[1] - 1];
    }
    my @ids = map { $_->{id} } @{$chapter->{exercises}};
    my ($number) = $chapter->{number} =~ /^0*(\w+)/;
    push @wrong, "the exercises are @ids: 1, 2, 3, ... is needed" if "@ids" ne join ' ', map {"$number.$_"} 1 .. @ids;
    none "$name: hints, points and solutions", @wrong;
    is scalar(grep { $_->{info} eq 'python' } @{$chapter->{blocks}}), 1,
      "$name: one version in PyTorch" if $chapter->{number} =~ /^\d/;
    none "$name: at most 76 columns", map { $_ + 1 }
      grep { length $lines->[$_] > 76 && $kind->[$_] ne 'fence' } 0 .. $#$lines;

    if ($chapter->{number} =~ /^\d/) {
        my ($words, $open) = $chapter->measure;
        my $all = grep { $kind->[$_] eq 'code' && $lines->[$_] =~ /\S/ } 0 .. $#$lines;
        ok $words >= $few_words && $words <= $words_most, "$name: $words words of prose, of $few_words to $words_most";
        ok $open <= $open_most, "$name: $open lines of open code, of at most $open_most";
        ok $all <= $code_most, "$name: $all lines of code, of at most $code_most";
    }

    # What figures show: every number in their words is known to the program, whether
    # it draws them, or they are drawn already.
    push @known, map { abs } map { /-?\d+(?:\.\d+)?/g } Text::of_file("$build/printed/$name.txt"), $code =~ s/(\d\.?\d*)f\b/$1/gr;
    my @odd;
    for my $picture (sort map { glob "$_/$chapter->{number}/*.svg" } "$build/printed", 'chapters/figures') {
        my $svg = Text::of_file($picture);
        my $words = join ' ', $svg =~ m{<desc[^>]*>(.*?)</desc>}s, $svg =~ m{<text\b[^>]*>(.*?)</text>}gs;
        for my $number ($words =~ /\d+\.\d+/g) {
            $is_known{$number} ||= any { Chapter::rounds_to($number, $_) } @known
              or push @odd, "$picture: $number";
        }
    }
    none "$name: its figures show its own numbers", @odd;
}

# One that is drawn already holds more than such numbers.
is join('', Text::of_file('chapters/figures/B/bits.svg') =~ m{<text\b[^>]*>(.*?)</text>}gs),
  sprintf('%032b', 2991312382) . '4967934 of 16777216: 0.2961', 'bits.svg: its texts';

# ---- The header.

# The functions that a header declares and that are not static, and its data.
sub bare { return join("\n", @_) =~ s{/\*.*?\*/}{}gsr =~ s{^#(?:.*\\\n)*.*$}{}gmr =~ s{\[[^\]]*\]}{}gr }
sub functions_in { return bare(@_) =~ /^(?!typedef|static)\w[\w ]*?[\s*](\w+)\([^;{]*?\)\s*(?:__attribute__[^;]*)?;/mg }
sub data_in { return map { split /,\s*/ } bare(@_) =~ /^extern [^;]*?((?:\w+,\s*)*\w+);/mg }

# A header declares what the file of its name defines: kernel.h and figure.h, what several do,
# and kernel/lanes.h, what chapter 15 has for them.
my %home = ('kernel/lanes' => '15_kernel');
sub home { return $home{$_[0]} // ($_[0] =~ m{^kernel/} ? 'kernel' : basename($_[0]) =~ s/^figure_.*/figure/r) }
my (%defines, %declares);
for my $header (glob 'src/*/*.h') {
    my $text = Text::of_file($header);
    $declares{home($header =~ s{src/(.*)\.h}{$1}r)}{$_} = 1 for functions_in($text), data_in($text);
}
# Of each object what it defines, and what it takes from others, symbol by symbol.
my (%object_of, %takes);
my @objects = map { s{^(?:chapters|src)/(.*)\.c$}{$1}r } grep { !/instruction_set/ } glob 'chapters/*.c src/*.c src/*/*.c';
my @kernels = map { m{obj/(.*)\.o$} } glob "$build/obj/kernel/instruction_set.*.o";
for my $object (@objects, @kernels) {
    for (qx{nm -g '$build/obj/$object.o'}) {
        my ($kind, $symbol) = /([A-Z]) _?(\w+)$/ or next;
        if ($kind eq 'U') { $takes{$object}{$symbol} = 1; next }
        $object_of{$symbol} = $object;
        $defines{home($object)}{$symbol} = 1 if $symbol !~ /^main_/ && $object !~ /instruction_set/;
    }
}
none 'a header declares what the file of its name defines, and nothing else', map {
    my ($is_defined, $is_declared) = ($defines{$_} // {}, $declares{$_} // {});
    my $header = "$_.h";
    map({"$header declares $_"} grep { !$is_defined->{$_} } sort keys %$is_declared),
      map({"$header does not declare $_"} grep { !$is_declared->{$_} } sort keys %$is_defined);
} sort keys %{{%defines, %declares}};
my $headers = Headers->load('src/attention.h');
my @declared = functions_in(@{$headers->{lines}});
# A test calls each, or its name begins one; these are called by what attend, cache,
# gpt, backward and 21_training hold.
my %is_within = map { $_ => 1 } qw(gpt_clear gpt_gradient_check
  mask_shows_block mask_square matmul_lanes model_clear model_gradient_check softmax_lanes store_row transpose_scaled
  refuse_sizes);
my $tests = join '', map { Text::of_file($_) } glob 'tests/*.[ch]';
none 'and tests call all of it', grep { $tests !~ /\b$_\(|"$_[:"]/ && !$is_within{$_} } sort @declared;
none 'the headers fit 76 columns', grep { length > 76 } @{$headers->{lines}};
my %is_named = map { $_ => 1 } Headers::files($headers),
  map {"src/$_.h"} qw(support/pen support/file support/tsv support/json support/unicode support/unicode_kinds support/utf8 kernel/attend kernel/instruction_set);
none 'and src/attention.h names them all', grep { !$is_named{$_} } glob 'src/*/*.h';
none 'no header has more than 250 lines', grep { 250 < (() = Text::of_file($_) =~ /\n/g) } glob 'src/attention.h src/*/*.h';

# ---- Chapters are a stair: each stands on those before it, and so does a file of src/ that a
# chapter uses; that holds where its program is linked, with nothing of a later chapter. Objects
# whose symbols need each other would be a circle.

my %needs = map {
    my $object = $_;
    $object => {map { ($object_of{$_} // $object) ne $object ? ($object_of{$_} => 1) : () } keys %{$takes{$object}}}
} keys %takes;
my $pairs = join ' ', map { my $object = $_; map {"$object $_"} sort keys %{$needs{$object}} } sort keys %needs;
is qx{echo $pairs | tsort 2>&1 >/dev/null}, '', 'no object takes what takes from it';

# What is compiled for an instruction set calls its like, not the plain ones.
for my $object (@kernels) {
    is join(' ', grep { $object_of{$_} eq $object } sort keys %object_of), $object =~ s{.*\.}{kernel_}r, "$object: others see one Kernel";
    is join(' ', grep { m{^(?:15_kernel|kernel/(?:attend|backward|cache))$} } sort keys %{$needs{$object}}), '', '... and it stands by itself';
}

done_testing;
