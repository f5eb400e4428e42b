#!/usr/bin/env perl
# The programs of chapters 23 and 24, as one runs them, with a model from a file; and that of
# `make train`, which is interrupted, killed and goes on. Each of its runs is a small one.

use strict;
use warnings;
use File::Temp qw(tempdir);
use JSON::PP;
use Test::More;
use Wait qw(wait_until);

my $build   = $ENV{BUILD} // 'build';
my $reader  = "$build/chapters/23_language_model";
my $inside  = "$build/chapters/24_inside";
my $trainer = "$build/tools/train";
my $folder  = tempdir(CLEANUP => 1);
my $golden  = 'golden/22_gpt.safetensors';
delete @ENV{qw(DIGITS FIGURES)};

sub text_of {
    my ($path) = @_;
    open my $file, '<:raw', $path or die "$path: $!\n";
    local $/;
    return <$file> // '';
}

sub write_file {
    my ($path, $text) = @_;
    open my $file, '>:raw', $path or die "$path: $!\n";
    print $file $text;
    close $file or die "$path: $!\n";
    return $path;
}

# Begins a run; its output goes into files, or what it says beside that into a pipe.
sub start {
    my ($says, $program, @args) = @_;
    my $child = fork // die "fork: $!\n";
    return $child if $child;
    $SIG{INT} = 'DEFAULT';
    open STDOUT, '>', "$folder/out" and open STDERR, $says ? '>&' : '>', $says // "$folder/err" or exit 9;
    exec $program, @args or exit 9;
}

# What a program prints, what it says beside that, and its status.
sub run_program {
    my $child = start(undef, @_);
    waitpid $child, 0;
    return text_of("$folder/out"), text_of("$folder/err"), $?;
}
sub run { return run_program($reader, @_) }
sub run_inside { return run_program($inside, @_) }
sub run_train { return run_program($trainer, @_) }

# A safetensors file: each tensor's header and bytes.
sub tensors {
    my ($raw)   = text_of($_[0]);
    my $length  = unpack 'Q<', $raw;
    my $header  = decode_json(substr $raw, 8, $length);
    delete $header->{__metadata__};
    return map {
        my ($from, $to) = @{$header->{$_}{data_offsets}};
        $_ => {%{$header->{$_}}, bytes => substr($raw, 8 + $length + $from, $to - $from)};
    } keys %$header;
}

sub numbers {
    my ($tensor) = @_;
    return unpack {F32 => 'f<*', F64 => 'd<*', I64 => 'q<*'}->{$tensor->{dtype}}, $tensor->{bytes};
}

# A file of tensors as `tensors` has them.
sub write_tensors {
    my ($path, %tensor) = @_;
    my ($at, $data, %header) = (0, '');
    for (sort keys %tensor) {
        my $bytes = $tensor{$_}{bytes};
        $header{$_} = {dtype => $tensor{$_}{dtype}, shape => $tensor{$_}{shape},
            data_offsets => [$at, $at + length $bytes]};
        $at += length $bytes;
        $data .= $bytes;
    }
    my $json = JSON::PP->new->canonical->encode(\%header);
    $json .= ' ' x (-length($json) % 8);
    return write_file($path, pack('Q<', length $json) . $json . $data);
}

sub near {
    my ($got, $right, $most, $name) = @_;
    my @off = grep { abs($got->[$_] - $right->[$_]) > $most } 0 .. $#$right;
    ok @$got == @$right && !@off, $name
      or diag "got @$got\ndue @$right";
}

sub printed_numbers { return $_[0] =~ /(?<![\w.])(-?(?:\d+\.\d+|inf|nan))/g }

# ---- A model.

my %golden = tensors($golden);
my ($texts, $n) = @{$golden{'gpt_tied-ids'}{shape}};
my $size   = $golden{'wte.weight'}{shape}[0];
my @ids    = (numbers($golden{'gpt_tied-ids'}))[0 .. $n - 1];
my @logits = (numbers($golden{'gpt_tied-logits'}))[($n - 1) * $size .. $n * $size - 1];

my ($out, $err, $status) = run($golden, @ids);
is "$err$status", '0', 'a model from a file: nothing is refused';
like $out, qr/\Alogits of the next token \($size\)\n\[/, 'what it prints';
near [printed_numbers($out)], \@logits, 6e-5, 'the logits are those of PyTorch';
{
    local $ENV{DIGITS} = 9;
    ($out) = run($golden, @ids);
    near [printed_numbers($out)], \@logits, 2e-5, 'with DIGITS, to more of them';
    like $out, qr/\.\d{9}\b/, 'as many as it says';
}

# Layout as others write it: names behind a prefix, the heads in config.json.
my %model = map { $_ => $golden{$_} } grep { !/-/ && $_ ne 'n_head' } keys %golden;
my $other = write_tensors("$folder/other.safetensors", map { ("transformer.$_" => $model{$_}) } keys %model);
($out, $err, $status) = run($other, @ids);
like $err, qr/\A[^\n]*config\.json[^\n]*\n\z/, 'without config.json: one line';
is $status, 2 << 8, '... and status 2';
write_file("$folder/config.json", '{"n_layer": 2, "n_head": 2}');
($out, $err, $status) = run($other, @ids);
near [printed_numbers($out)], \@logits, 6e-5, 'names behind a prefix, and config.json: the same logits';
my ($apart) = run(write_tensors("$folder/apart.safetensors", %model, 'lm_head.weight' => {
    %{$model{'wte.weight'}}, bytes => pack 'f<*', map { 2 * $_ } numbers($model{'wte.weight'})}), @ids);
near [printed_numbers($apart)], [map { 2 * $_ } @logits], 1e-4, 'an lm_head of its own, twice as large';

# The weights of a head: from queries and keys, which PyTorch has left.
my $width = $golden{'wte.weight'}{shape}[1];
my $heads = (numbers($golden{n_head}))[0];
my $d     = $width / $heads;
for my $layer (0, 1) {
    for my $head (0, $heads - 1) {
        my ($query, $key) = map { [(numbers($golden{"gpt_tied-$_"}))] } qw(query key);
        my @right;
        for my $i (0 .. $n - 1) {
            my @scores = map {
                my $j = $_;
                my ($at_i, $at_j) = map { ($layer * $texts * $n + $_) * $width + $head * $d } $i, $j;
                my $sum = 0;
                $sum += $query->[$at_i + $_] * $key->[$at_j + $_] for 0 .. $d - 1;
                exp($sum / sqrt $d);
            } 0 .. $i;
            my $all = 0;
            $all += $_ for @scores;
            push @right, (map { $_ / $all } @scores), (0) x ($n - 1 - $i);
        }
        ($out, $err, $status) = run_inside('--map', $layer, $head, $golden, @ids);
        like $out, qr/\Aattention weights \($n, $n\)\n/, "--map $layer $head: a table";
        near [printed_numbers($out)], \@right, 6e-5, '... of PyTorch\'s weights';
    }
}

# The table of all heads, to three digits.
my %due = tensors('golden/24_inside.safetensors');
($out, $err, $status) = run_inside($golden);
is "$err$status", '0', 'all heads: nothing is refused';
like $out, qr/\Aloss of the first half, and of the second \(2\)\n\[[\d.]+, [\d.]+\]\nheads, in weights and losses\n/, '... what it prints';
my @rows = $out =~ /^  (block \d+ head \d+ .*)$/gm;
near [printed_numbers((split /\n/, $out)[1])], [numbers($due{'heads_program-loss'})], 6e-5, '... both losses';
is_deeply [map { /^(block \d+ head \d+)/ } @rows],
  ['block 0 head 0', 'block 0 head 1', 'block 1 head 0', 'block 1 head 1'], '... a row for each head';
# The numbers of the table, of which each has three digits, beside what they should be.
sub scores_in { return map { s/^ *block \d+ head \d+//r =~ /(\S+)/g } $_[0] =~ /^  block .*$/mg }
sub near_scores {
    my ($printed, $due, $what) = @_;
    my @wrong = grep { abs($printed->[$_] - $due->[$_]) > 0.00501 * abs $due->[$_] } 0 .. $#$due;
    ok @$printed == @$due && !@wrong, $what or diag "@$printed\n@$due";
}
near_scores([scores_in($out)], [numbers($due{'heads_program-scores'})], "... PyTorch's scores");

for (
    ['no file'                 => ['--map', 1], qr/--map BLOCK HEAD FILE ID/],
    ['a word too many'         => [$golden, 1], qr/--map BLOCK HEAD FILE ID/],
    ['a block that is too high' => ['--map', 2, 0, $golden, 1], qr/the block/],
    ['a head that is too high' => ['--map', 1, 2, $golden, 1], qr/the head/],
    ['an id that is too large' => ['--map', 1, 1, $golden, $size], qr/an id/],
    ['no such model'           => ["$folder/none.safetensors"], qr/none\.safetensors/],
) {
    my ($what, $args, $says) = @$_;
    ($out, $err, $status) = run_inside(@$args);
    like $err, qr/\A[^\n]*$says[^\n]*\n\z/, "refused: $what, in one line";
    ok $out eq '' && $status == 2 << 8, '... and with status 2';
}
for (
    ['no ids'                  => [$golden], qr/FILE ID/],
    ['an id that is too large' => [$golden, 0, $size], qr/an id/],
    ['an id that is a word'    => [$golden, 'word'], qr/an id/],
    ['no such file'            => ["$folder/none.safetensors", 1], qr/none\.safetensors/],
) {
    my ($what, $args, $says) = @$_;
    ($out, $err, $status) = run(@$args);
    my ($line) = $err =~ /([^\n]*\n)\z/;
    like $line, $says, "refused: $what";
    ok $out eq '' && $err =~ /\A[^\n]*\n\z/ && $status == 2 << 8, '... in one line, with status 2'
      or diag "$out$err$status";
}
for (
    ['a training without a log' => ["$folder/t"], qr/1 arguments; there must be TRAINING MODEL LOG/],
    ['sizes that are none' => ["$folder/t", "$folder/m", "$folder/l", 0, 1, 8, 8, 2, 1, 0, 0], qr/steps/],
    ['a log that cannot be' => ["$folder/t", "$folder/m", "$folder/none/l", 1, 1, 8, 8, 2, 1, 0, 0], qr/none\/l: cannot be written/],
    ['a log that is the training' => ["$folder/t", "$folder/m", "$folder/t", 1, 1, 8, 8, 2, 1, 0, 0], qr/two of the training, its model and its log/],
    ['a training that cannot be' => ["$folder/none/t", "$folder/m", "$folder/l", 1, 1, 8, 8, 2, 1, 0, 0], qr/none\/t: cannot be written/],
) {
    my ($what, $args, $says) = @$_;
    ($out, $err, $status) = run_train(@$args);
    like $err, $says, "refused: $what";
    ok $out eq '' && $err =~ /\A[^\n]*\n\z/ && $status == 2 << 8, '... in one line, with status 2'
      or diag "$out$err$status";
}
is_deeply [grep { -e } "$folder/t", "$folder/m", "$folder/l", "$folder.part", glob "$folder/*.part"], [], 'nothing is left of a training that was refused';

# ---- A training. Whole, and in parts: to the last bit the same.

my @sizes = (6, 4, 32, 16, 2, 1, 1, 10);
my $steps = $sizes[0];
sub train { return ("$folder/$_[0]", "$folder/$_[0].best", "$folder/$_[0].tsv", @sizes) }

# All but the notes, in which there are seconds.
sub stands {
    my %all = tensors("$folder/$_[0]");
    delete $all{'training.notes'};
    return {map { $_ => $all{$_}{bytes} } keys %all};
}
sub steps_of { return (numbers({tensors("$folder/$_[0]")}->{'training.stands'}))[-1] }

# The log without the time that it took, and its rows.
sub log_of { return text_of("$folder/$_[0].tsv") =~ s/^(?:seconds|tokens_per_second|date)\t.*\n//gmr }
sub rows_of { return [log_of($_[0]) =~ /^(\d+)(?:\t\d+(?:\.\d+)?(?:e-\d+)?){4}\tThe .{28,}$/mg] }

# Begins a training, which has saved itself and is held after few of its steps: it says
# each, and there is room for no more. Sends a signal to it, and lets it go on. Returns
# what it says.
sub signalled {
    my ($signal, $name) = @_;
    my ($SIZE, $room) = (1032, 150); # F_GETPIPE_SZ
    pipe my $from, my $to or die "no pipe: $!\n";
    syswrite $to, ' ' x (fcntl($to, $SIZE, 0) - $room);
    my $child = start($to, $trainer, train($name));
    close $to;
    wait_until { -e "$folder/$name" } 'a training that has saved itself';
    kill $signal => $child;
    my $says = do { local $/; <$from> };
    waitpid $child, 0;
    return $says;
}

($out, $err, $status) = run_train(train('whole'));
is "$out$status", '0', 'a training, whole';
like $err, qr/step $steps of $steps, loss \d\.\d+, \d+ tokens a second, 0 s left/, '... says how far it is';
like $err, qr/whole has step $steps of $steps: all are done\n\z/, '... and that it is done';
my $log = text_of("$folder/whole.tsv");
my %value = $log =~ /^(\w+)\t([^\t\n]+)$/mg;
is_deeply [@value{qw(steps texts context_length width n_heads layers repeats dropout vocabulary)}],
  [@sizes[0 .. 6], $sizes[7] / 100, 128], 'the log has the sizes';
like $value{machine}, qr/^.+, \d+ threads$/, '... the machine';
like $value{date}, qr/^\d{4}-\d\d-\d\d$/, '... the day';
ok defined $value{seconds} && $value{tokens_per_second} > 0, '... and seconds and tokens a second';
is_deeply rows_of('whole'), [1 .. 6], '... and a row for each step, with what the model writes';
my ($columns, $table) = $log =~ /^(block\t.*)\n((?:\d+(?:\t\d+(?:\.\d+)?(?:e-\d+)?){10}\n){2})\z/m;
is $columns, join("\t", qw(block head before after loss_off after_off), map {"back_$_"} 1 .. 5), '... and the scores of its heads';
my @heads = map { (split /\t/)[2 .. 5] } split /\n/, $table;
my @rows_held = map { [split /\t/] } $log =~ /^(\d+(?:\t[\d.e-]+){4})\tThe /mg;
my ($best) = sort { $a->[2] <=> $b->[2] } @rows_held;
my @largest = @$best[3, 4];
near [map { my $k = $_; (sort { $b <=> $a } @heads[$k, $k + 4])[0] } 0, 1], \@largest, 1e-6, '... those of the best model';
near_scores([scores_in((run_inside("$folder/whole.best"))[0])], \@heads, '... which are what the program of chapter 24 finds');
run_train("$folder/long", "$folder/long.best", "$folder/long.tsv", 80, @sizes[1 .. 6], 0);
is_deeply rows_of('long'), [1, map { 2 * $_ } 1 .. 40], '... or for a fortieth of many';
for my $file ('whole', 'whole.best') {
    my ($model) = run("$folder/$file", 84, 104);
    like $model, qr/\Alogits of the next token \(128\)/, "$file is a model";
}

my $says = signalled(INT => 'parts');
is $?, 0, 'Ctrl-C ends it cleanly';
my $at = steps_of('parts');
ok $at > 0 && $at < $steps, '... on the way';
like $says, qr/parts has step $at of $steps: the same command/, '... it says where it stands';
ok !-e "$folder/parts.tsv", '... and has no log yet';
($out, $err, $status) = run_train(train('parts'));
is $status, 0, 'it goes on';
is_deeply stands('parts'), stands('whole'), '... and ends with the same bits as one that was not interrupted';
is log_of('parts'), log_of('whole'), '... and with the same log';
is text_of("$folder/parts.best"), text_of("$folder/whole.best"), '... and the same best model';

signalled(KILL => 'killed');
is $? & 127, 9, 'killed';
ok steps_of('killed') >= 1, '... it leaves a whole file';
($out, $err, $status) = run_train(train('killed'));
is_deeply stands('killed'), stands('whole'), '... from which it goes on to the same bits';
is log_of('killed'), log_of('whole'), '... and the same log';

for my $threads (1, 3) {
    local $ENV{OMP_NUM_THREADS} = $threads;
    run_train(train("by$threads"));
    is_deeply stands("by$threads"), stands('whole'), "the same bits with OMP_NUM_THREADS=$threads";
}

# ---- What it does not go on with.

for (['one that is cut off' => substr(text_of("$folder/whole"), 0, -100), qr/json_integer|bytes/],
     ['a model alone' => text_of($golden), qr/training\.same/]) {
    my ($what, $raw, $says) = @$_;
    write_file("$folder/wrong", $raw);
    write_file("$folder/wrong.best", text_of("$folder/whole.best"));
    ($out, $err, $status) = run_train(train('wrong'));
    like $err, qr/\A[^\n]*wrong[^\n]*\n\z/, "refused: $what, in one line";
    like $err, $says, '... which says so';
    ok $status == 2 << 8 && text_of("$folder/wrong") eq $raw, '... and the file is as it was';
}
($out, $err, $status) = run_train("$folder/whole", "$folder/w", "$folder/w.tsv", @sizes);
like "$err$status", qr/\A[^\n]*\/w: [^\n]+\n512\z/, 'refused: one whose best model is not there';
($out, $err, $status) = run_train("$folder/whole", $golden, "$folder/w.tsv", @sizes);
like "$err$status", qr/\A[^\n]+: its model has a loss of nan [^\n]+; it must be the best one of this run, which has [\d.]+\n512\z/,
  'refused: one whose best model is another';
($out, $err, $status) = run_train("$folder/whole", "$folder/whole.best", "$folder/w.tsv", @sizes[0, 1, 2], 32, @sizes[4 .. 7]);
like "$err$status", qr/\A[^\n]+ whose width is 16: 32 is needed\n512\z/, 'refused: a training of another size';
($out, $err, $status) = run_train("$folder/whole", "$folder/whole.best", "$folder/w.tsv", @sizes[0 .. 6], 20);
like "$err$status", qr/\A[^\n]+ whose dropout is 0\.1: 0\.2 is needed\n512\z/, '... or of another rate of dropout';

done_testing;
