#!/usr/bin/env perl
# The programs of chapters 23 and 24, as one runs them, with a model from a file; and that of
# `make train`, which is interrupted, killed and goes on. Each of its runs is a small one.

use strict;
use warnings;
use File::Temp qw(tempdir);
use JSON::PP;
use List::Util qw(sum);
use Test::More;
use Wait qw(wait_until);

my $build   = $ENV{BUILD} // 'build';
my $reader  = "$build/chapters/23_language_model";
my $inside  = "$build/chapters/24_inside";
my $trainer = "$build/tools/train";
my $folder  = tempdir(CLEANUP => 1);
my $golden  = 'golden/22_gpt.safetensors';
delete @ENV{qw(DIGITS FIGURES)};

sub text_of { local (@ARGV, $/) = @_; return <> // '' }

# Begins a program; its output goes into files.
sub start {
    my $child = fork // die "fork: $!\n";
    return $child if $child;
    $SIG{INT} = 'DEFAULT';
    open STDOUT, '>', "$folder/out" and open STDERR, '>', "$folder/err" or exit 9;
    exec @_ or exit 9;
}

# What a program prints, what it says beside that, and its status.
sub run {
    waitpid start(@_), 0;
    return text_of("$folder/out"), text_of("$folder/err"), $? >> 8;
}

# A refusal is one line that says this, with status 2, and nothing is printed.
sub is_refused {
    my ($what, $says, @command) = @_;
    my ($out, $err, $status) = run(@command);
    like $err, qr/\A[^\n]*$says[^\n]*\n\z/, "refused: $what";
    is "$out$status", '2', '... with status 2' or diag "$out$err";
}

# The shape of a tensor of a file, and its numbers.
sub tensor {
    my ($path, $name) = @_;
    my $raw    = text_of($path);
    my $length = unpack 'Q<', $raw;
    my $tensor = decode_json(substr $raw, 8, $length)->{$name};
    my ($from, $to) = @{$tensor->{data_offsets}};
    return $tensor->{shape}, unpack {F32 => 'f<*', F64 => 'd<*', I64 => 'q<*'}->{$tensor->{dtype}}, substr $raw, 8 + $length + $from, $to - $from;
}
sub numbers { my (undef, @numbers) = tensor(@_); return @numbers }

sub near {
    my ($got, $right, $most, $name) = @_;
    my @off = grep { abs($got->[$_] - $right->[$_]) > $most } 0 .. $#$right;
    ok @$got == @$right && !@off, $name or diag "got @$got\ndue @$right";
}
sub printed_numbers { return $_[0] =~ /(?<![\w.])(-?(?:\d+\.\d+|inf|nan))/g }

# ---- A model from a file.

my ($size) = @{(tensor($golden, 'wte.weight'))[0]};
my ($shape, @ids) = tensor($golden, 'gpt_tied-ids');
my $n = $shape->[1];
@ids = @ids[0 .. $n - 1];
my @logits = (numbers($golden, 'gpt_tied-logits'))[($n - 1) * $size .. $n * $size - 1];

my ($out, $err, $status) = run($reader, $golden, @ids);
is "$err$status", '0', 'the next token of a model from a file';
like $out, qr/\Alogits of the next token \($size\)\n\[/, '... is told by logits';
near [printed_numbers($out)], \@logits, 6e-5, '... which are those of PyTorch';

# The weights of each head of the first text: from the queries and keys [block][text][token][head * $d + entry] of PyTorch.
my ($query, $key) = map { [numbers($golden, "gpt_tied-$_")] } qw(query key);
my ($texts, $heads, $d) = ($shape->[0], 2, 6);
for my $head (map { my $block = $_; map { [$block, $_] } 0 .. $heads - 1 } 0, 1) {
    my @begin = map { (($head->[0] * $texts * $n + $_) * $heads + $head->[1]) * $d } 0 .. $n - 1;
    my @due = map {
        my $i = $_;
        my @seen = map { my $j = $_; exp(sum(map { $query->[$begin[$i] + $_] * $key->[$begin[$j] + $_] } 0 .. $d - 1) / sqrt $d) } 0 .. $i;
        (map { $_ / sum @seen } @seen), (0) x ($n - 1 - $i);
    } 0 .. $n - 1;
    near [printed_numbers((run($inside, '--map', @$head, $golden, @ids))[0])], \@due, 6e-5, "--map @$head: PyTorch's weights";
}
($out, $err, $status) = run($inside, $golden);
is "$err$status", '0', 'the table of all heads';
near [printed_numbers((split /\n/, $out)[1])], [numbers('golden/24_inside.safetensors', 'heads_program-loss')], 6e-5,
  '... has the losses of PyTorch';
sub scores_in { return map { s/^ *block \d+ head \d+//r =~ /(\S+)/g } $_[0] =~ /^  block .*$/mg }
sub near_scores {
    my ($printed, $due, $what) = @_;
    my @wrong = grep { abs($printed->[$_] - $due->[$_]) > 0.00501 * abs $due->[$_] } 0 .. $#$due;
    ok @$printed == @$due && !@wrong, $what or diag "@$printed\n@$due";
}
near_scores([scores_in($out)], [numbers('golden/24_inside.safetensors', 'heads_program-scores')], '... and its scores, in three digits');

is_refused('no ids', qr/FILE ID/, $reader, $golden);
is_refused('an id that is too large', qr/an id/, $reader, $golden, 0, $size);
is_refused('no such file', qr/none\.safetensors/, $reader, "$folder/none.safetensors", 1);
is_refused('no file', qr/--map BLOCK HEAD FILE ID/, $inside, '--map', 1);
is_refused('a head that is too high', qr/the head/, $inside, '--map', 1, 2, $golden, 1);

# ---- A training. Whole, and in parts: the same files.

my @sizes = (20, 2, 16, 8, 2, 1, 1, 10);
my @texts = map {"src/data/$_.txt"} qw(prose held_out);
sub train { my ($name, @other) = @_; return ($trainer, map({"$folder/$name.$_"} qw(training model tsv)), @texts, @other ? @other : @sizes) }

# The log without the machine and the time that it took.
sub log_of { return text_of("$folder/$_[0].tsv") =~ s/^(?:machine|seconds|tokens_per_second|date)\t.*\n//gmr }

# Begins a training, and sends a signal to it when it has saved itself.
sub signalled {
    my ($signal, $name) = @_;
    my $child = start(train($name));
    wait_until { -e "$folder/$name.training" } 'a training that has saved itself';
    kill $signal => $child;
    waitpid $child, 0;
    return text_of("$folder/err");
}

($out, $err, $status) = run(train('whole'));
is "$out$status", '0', 'a training, whole';
like $err, qr/\A(?:step \d+ of 20, loss \d\.\d+, \d+ tokens a second, \d+ s left\n){20}all 20 steps are done\n\z/,
  '... says how far it is, in lines where no terminal is';
ok !-e "$folder/whole.training", '... and leaves a model and a log alone';
my $log = text_of("$folder/whole.tsv");
sub names_in { return join "\n", map { s/^(?!step\t|block\t)(\w+)\t.*/$1/r } grep { /^[a-z]/ } split /\n/, $_[0] }
is names_in($log), names_in(text_of('src/data/trained.tsv')), '... and a log with the names that chapters 23 and 24 read';
my %value = $log =~ /^(\w+)\t([^\t\n]+)$/mg;
is_deeply [@value{qw(steps texts context_length width n_heads layers repeats dropout)}], [@sizes[0 .. 6], 0.1], 'the log has the sizes';
like "$value{machine}, $value{date}", qr/^.+, \d+ threads, \d{4}-\d\d-\d\d$/, '... the machine, and the day';
my @rows = map { [split /\t/] } $log =~ /^(\d+(?:\t[\d.e-]+){4})\tThe .{12}$/mg;
is_deeply [map { $_->[0] } @rows], [1 .. 20], '... and a row for each step, with what the model writes';
my @columns = map { [split /\t/] } $log =~ /^(\d+\t\d+(?:\t[\d.e-]+){9})$/mg;
my @heads = map { @$_[2 .. 5] } @columns;
my ($best) = sort { $a->[2] <=> $b->[2] } @rows;
near [map { my $k = $_; (sort { $b <=> $a } @heads[$k, $k + 4])[0] } 0, 1], [@$best[3, 4]], 1e-6, '... and the scores of the best model';
is_deeply [map { $_->[6] } @columns], [map { $_->[2] } @columns], '... of which the first is the weight one back';
($out) = run($inside, "$folder/whole.model");
near [printed_numbers((split /\n/, $out)[1])], [@value{qw(loss_of_first_half loss_of_second_half)}], 6e-5, '... and the losses of both halves';
near_scores([scores_in($out)], \@heads, '... which the program of chapter 24 finds, too');

like signalled(INT => 'parts'), qr/parts\.training has step \d of 20: the same command goes on from there\n\z/, 'Ctrl-C ends it';
is $?, 0, '... cleanly';
ok !-e "$folder/parts.tsv", '... without a log';
is_refused('to go on with other sizes', qr/is a run with steps 20, .*, dropout 0\.1, .*; this run has .*, dropout 0\.2, /,
    train('parts', @sizes[0 .. 6], 20));
signalled(KILL => 'killed');
is $? & 127, 9, 'another one is killed';
for (['parts', 1], ['killed', 3]) {
    local $ENV{OMP_NUM_THREADS} = $_->[1];
    is +(run(train($_->[0])))[2], 0, "$_->[0]: it goes on";
    is log_of($_->[0]), log_of('whole'), '... to the same log as one that was not interrupted';
    ok text_of("$folder/$_->[0].model") eq text_of("$folder/whole.model"), '... and the same model, by any number of threads';
}

# ---- What it does not begin with.

open my $file, '>', "$folder/short.training" or die "$!\n";
print $file 'steps 20';
close $file;
is_refused('a training that is cut off', qr/short\.training: ends after 8 bytes where/, train('short'));
is_refused('a training without a log', qr/1 arguments; there must be TRAINING MODEL LOG TEXT HELD_OUT/, $trainer, "$folder/t");
is_refused('no steps', qr/steps/, train('t', 0, @sizes[1 .. 7]));
is_refused('a log that cannot be', qr/none\/l: cannot be written/, $trainer, "$folder/t", "$folder/m", "$folder/none/l", @texts, @sizes);
is_deeply [grep { -e } map({"$folder/$_"} qw(t t.training m)), glob "$folder/*.part"], [], 'nothing is left of one that was refused';

done_testing;
