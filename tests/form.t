#!/usr/bin/env perl
# What every chapter has, and what the header promises: hints and solutions,
# one version in PyTorch, lines that fit, functions that exist and are tested,
# figures that hold the program's own numbers.

use strict;
use warnings;
use File::Temp qw(tempdir);
use lib 'tools';
use Chapter;
use Test::More;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $build = $ENV{BUILD} // 'build';

sub text_of {
    my ($path) = @_;
    open my $file, '<:encoding(UTF-8)', $path or die "$path: $!\n";
    local $/;
    return scalar <$file>;
}

sub none {
    my ($name, @wrong) = @_;
    is join("\n", @wrong), '', $name;
}

# ---- Chapters.

my (@known, %function);
for my $path (sort glob 'chapters/*.c') {
    my $chapter = Chapter->load($path);
    my ($name, $lines) = @$chapter{qw(name lines)};
    my @wrong;
    for my $exercise (@{$chapter->{exercises}}) {
        my ($id, $i) = @$exercise{qw(id line)};
        my $hints = 0;
        for ($i++; $i < @$lines && $lines->[$i] !~ m{^\*\*Exercise |^\*/|^## }; $i++) {
            $hints++ if $lines->[$i] =~ /^::: hint$/;
        }
        my $solved = grep { $_ eq "::: {.solution exercise=\"$id\"}" } @$lines;
        my $apart  = !$exercise->{function} || $exercise->{about} =~ /challenge/;
        push @wrong, "exercise $id has $hints hints" if $exercise->{function}
          && ($hints < 1 || $hints > 3);
        push @wrong, "exercise $id has $solved solutions at the end"
          if $solved != ($apart ? 1 : 0);
        push @wrong, "exercise $id is worth no points" if $exercise->{function}
          && !$exercise->{points};
    }
    none "$name: hints, points and solutions", @wrong;
    is scalar(grep { $_->{info} eq 'python' } @{$chapter->{blocks}}), 1,
      "$name: one version in PyTorch" if $chapter->{number} =~ /^\d/;
    none "$name: at most 76 columns", map { $_ + 1 } grep {
        length $lines->[$_] > 76 && $chapter->{kind}[$_] ne 'fence' } 0 .. $#$lines;

    # What figures show: every number in their words is known to the program.
    my $figures = tempdir(CLEANUP => 1);
    my ($printed) = Chapter::run("$build/chapters/$name", '', DIGITS => 9, FIGURES => $figures);
    push @known, map { abs } map { /-?\d+(?:\.\d+)?/g } @$printed,
      map { s/(\d\.?\d*)f\b/$1/gr } @$lines[grep { $chapter->{kind}[$_] eq 'code' } 0 .. $#$lines];
    my @odd;
    for my $picture (sort glob "$figures/*.svg") {
        my ($words) = text_of($picture) =~ m{<desc[^>]*>(.*?)</desc>}s;
        for my $number ($words =~ /\d+\.\d+/g) {
            push @odd, "$picture: $number" if !grep { Chapter::rounds_to($number, $_) } @known;
        }
    }
    none "$name: its figures show its own numbers", @odd;
    $function{$_} = $path for map { /^(?!static )\w.*?\b(\w+)\(.*(?:,|\))$/ ? $1 : () }
      @$lines[grep { $chapter->{kind}[$_] eq 'code' } 0 .. $#$lines];
}

# ---- The header.

for my $path (glob 'src/*.c') {
    $function{$_} = $path for text_of($path) =~ /^(?!static )\w.*?\b(\w+)\(.*(?:,|\))$/mg;
}
my $header = text_of('src/attention.h') =~ s{/\*.*?\*/}{}gsr =~ s{^#(?:.*\\\n)*.*$}{}gmr;
my @declared = $header =~ /^(?!typedef|#)[\w ]+?[\s*](\w+)\([^;]*?\)\s*(?:__attribute__[^;]*)?;/mg;
cmp_ok scalar @declared, '>', 20, 'the header declares functions';
none 'every function that the header declares is defined', grep { !$function{$_} } @declared;
my %declared = map { $_ => 1 } @declared;
# What the drawing functions share is declared in a header of their own.
$declared{$_} = 1 for text_of('src/pen.h') =~ /^[A-Za-z][\w ]+?[\s*](\w+)\(/mg;
none 'and every public function is declared', grep { !$declared{$_} && $_ ne 'main' }
  sort keys %function;
my $tests = join '', map { text_of($_) } glob 'tests/*.c';
none 'and has tests that begin with its name',
  grep { $tests !~ /"\Q$_\E[:"]|REFUSES\([^;]*\b\Q$_\E\(/ } sort @declared;
none 'the header fits 76 columns', grep { length > 76 } split /\n/, text_of('src/attention.h');

done_testing;
