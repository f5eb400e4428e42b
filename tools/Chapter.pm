package Chapter;

# A chapter as the tools see it: which lines are prose, which are code, what
# output it promises, which exercises it sets. tools/outputs, tools/student,
# golden/check.py and the Perl tests share this; the book's weaver has its own
# reader in Lua, since it needs pandoc's view of the prose.

use strict;
use warnings;
use utf8;

my $DECIMAL = qr/[-+]?\d+\.\d+/;

# How far a shown decimal may be from the value the program holds, besides
# half a unit of its last digit: on another CPU a sum may differ in its last
# bits and round the other way.
my $SLACK = 2e-6;

# Reads a file into:
#   path, name (02_softmax), number (02), lines (without line ends)
#   kind       for each line: prose, code, mark (the /* and */ lines) or fence
#   blocks     its fences: info, first (index of the first line inside), lines
#   exercises  id, function (undef if by hand), points, line (index)
sub load {
    my ($class, $path) = @_;
    open my $file, '<:encoding(UTF-8)', $path
      or die "$path: cannot be read: $!\n";
    chomp(my @lines = <$file>);
    my ($name) = $path =~ m{([^/]+)\.\w+$};
    my $self = bless {path => $path, name => $name, lines => \@lines}, $class;
    ($self->{number}) = $name =~ /^(\w+?)_/;
    $self->_classify;
    $self->_find_exercises;
    return $self;
}

sub _classify {
    my ($self) = @_;
    my $prose = $self->{path} =~ /\.md$/;
    my (@kind, @blocks, $open);
    for my $i (0 .. $#{$self->{lines}}) {
        my $line = $self->{lines}[$i];
        if ($open) {
            push @kind, 'fence';
            if ($line =~ /^`{3,}\s*$/) { $open = undef }
            else                       { push @{$open->{lines}}, $line }
        }
        elsif ($line =~ m{^/\*\s*$} && !$prose) { $prose = 1; push @kind, 'mark' }
        elsif ($line =~ m{^\*/\s*$} && $prose)  { $prose = 0; push @kind, 'mark' }
        elsif ($prose && $line =~ /^\s*(?:~{3,}|\s`{3,})/) {
            die "$self->{path}:@{[$i + 1]}: a fence is three backticks in column 0\n";
        }
        elsif ($prose && $line =~ /^`{3,}\s*(\S.*?)\s*$/) {
            $open = {info => $1, first => $i + 1, lines => []};
            push @blocks, $open;
            push @kind, 'fence';
        }
        else { push @kind, $prose ? 'prose' : 'code' }
    }
    $self->{kind}   = \@kind;
    $self->{blocks} = \@blocks;
}

# An exercise's heading may run on to the next line.
sub _find_exercises {
    my ($self) = @_;
    my ($lines, $kind) = @$self{qw(lines kind)};
    my @found;
    for my $i (0 .. $#$lines) {
        next if $kind->[$i] ne 'prose' || $lines->[$i] !~ /^\*\*Exercise (\w+\.\d+)\*\*/;
        my $id = $1;
        my $heading = join ' ', @$lines[$i .. ($i < $#$lines ? $i + 1 : $i)];
        my ($about, $rest) = $heading =~ /^\*\*Exercise \S+\*\* \((.*?)\):(.*)/
          or die "$self->{path}:@{[$i + 1]}: an exercise begins **Exercise 2.1** "
          . "(★★, 3 points): `function`, or (by hand): and a text\n";
        my ($function) = $rest =~ /^\s*`(\w+)`/;
        my ($points)   = $about =~ /(\d+) points?/;
        push @found, {id => $id, about => $about, function => $function,
                      points => $points, line => $i};
    }
    $self->{exercises} = \@found;
}

# The indices of a function's braces, both in column 0.
sub body {
    my ($self, $function) = @_;
    my $lines = $self->{lines};
    for my $i (0 .. $#$lines) {
        next if $self->{kind}[$i] ne 'code';
        next if $lines->[$i] !~ /^\w[^;]*\b\Q$function\E\(/;
        my $open = $i;
        $open++ while $open < $#$lines && $lines->[$open] !~ /^\{|;\s*$/;
        next if $lines->[$open] !~ /^\{/;
        my $close = $open;
        $close++ while $close < $#$lines && $lines->[$close] !~ /^\}/;
        return ($open, $close);
    }
    die "$self->{path}: no function $function with its braces in column 0\n";
}

# The lines with the bodies of these exercises empty. None of them moves, so
# that file, page and compiler speak of the same line.
sub emptied {
    my ($self, @exercises) = @_;
    my @lines = @{$self->{lines}};
    for my $exercise (@exercises) {
        my ($open, $close) = $self->body($exercise->{function});
        die "$self->{path}:@{[$open + 1]}: a body of two lines at least is needed\n"
          if $close - $open < 3;
        $lines[$_] = '' for $open + 1 .. $close - 1;
        $lines[$open + 1] = qq{    TODO("$exercise->{id}");};
    }
    return @lines;
}

# The output fences: those of the plain run, and the runs with arguments.
sub outputs {
    my ($self) = @_;
    my @outputs;
    for my $block (@{$self->{blocks}}) {
        next if $block->{info} !~ /\boutput\b/;
        die "$self->{path}:$block->{first}: the fence '$block->{info}' is neither "
          . "'output' nor {.output args=\"...\" status=N}\n"
          if $block->{info} !~ /^(?:output|\{\.output args="[^"]*"(?: status=\d+)?\})$/;
        my ($args)   = $block->{info} =~ /\bargs="(.*?)"/;
        my ($status) = $block->{info} =~ /\bstatus=(\d+)/;
        push @outputs, {%$block, args => $args, status => $status // 0};
    }
    return @outputs;
}

# Is an exercise of this chapter still empty (as in the student edition)?
sub empty_exercise {
    my ($self) = @_;
    for my $i (0 .. $#{$self->{lines}}) {
        return $1 if $self->{kind}[$i] eq 'code'
          && $self->{lines}[$i] =~ /^\s+TODO\("(.*?)"\);/;
    }
    return undef;
}

# Runs a program as the shell would, and returns what it prints (a refusal's
# message included) as lines, and its status.
sub run {
    my ($program, $args, %environment) = @_;
    %environment = (DIGITS => '', %environment); # a reader's own does not count
    local @ENV{keys %environment} = values %environment;
    my $under = $ENV{RUN_UNDER} // '';
    open my $pipe, '-|:encoding(UTF-8)', "$under '$program' " . ($args // '') . ' 2>&1'
      or die "$program: cannot be run: $!\n";
    chomp(my @lines = <$pipe>);
    close $pipe;
    my $status = $? & 127 ? 128 + ($? & 127) : $? >> 8;
    return (\@lines, $status);
}

# Runs a test program and returns its tests: name, ok, text (what went wrong)
# and empty (the exercises that it found empty). What the tested code itself
# says comes before a test's line, the harness's words after it.
sub run_tests {
    my ($program) = @_;
    my ($lines, $status) = run($program, '');
    my (@tests, @before, $planned);
    for (@$lines) {
        if (/^(not )?ok \d+ - (.*)/) {
            push @tests, {ok => !$1, name => $2, text => [@before], empty => []};
            @before = ();
        }
        elsif (/^  (?!---$|\.\.\.$)/ && @tests) { push @{$tests[-1]{text}}, $_ }
        elsif (/^1\.\.(\d+)$/) { $planned = $1 }
        elsif (!/^(?:TAP version|\d+\.\.\d+$|  )/) { push @before, $_ }
    }
    for my $test (@tests) {
        @{$test->{empty}} = map { /exercise (\S+) is still empty/ } @{$test->{text}};
    }
    push @tests, {ok => 0, name => "$program ends with status $status", text => [@before],
        empty => []} if @before || $status > 1 || @tests != ($planned // -1)
      || $status && !grep { !$_->{ok} } @tests;
    return @tests;
}

# A line as text with a hole for each decimal, and the decimals. Blanks beside
# brackets and commas only align, and so does a second one anywhere.
sub _holes {
    my ($line) = @_;
    my @decimals = $line =~ /$DECIMAL/g;
    $line =~ s/$DECIMAL/#/g;
    $line =~ s/\s*([\[\],])\s*/$1/g;
    $line =~ s/\s+/ /g;
    $line =~ s/^ | $//g;
    return ($line, @decimals);
}

sub decimals_after_point { return length(($_[0] =~ /\.(\d+)/)[0]) }

# Is the shown decimal the rounding of the value?
sub rounds_to {
    my ($shown, $value, $slack) = @_;
    my $half = 0.5 * 10**-decimals_after_point($shown);
    return abs($shown - $value) <= $half + ($slack // $SLACK);
}

# Says what is wrong with a shown line, or nothing. `usual` is what the
# program prints, `precise` what it prints with DIGITS=9.
sub compare_lines {
    my ($shown, $usual, $precise) = @_;
    my ($text,  @decimals) = _holes($shown);
    my ($right, @usual)    = _holes($usual);
    my ($other, @precise)  = _holes($precise);
    return "the program prints '$usual'"
      if $text ne $right;
    return "the program prints '$usual', but with DIGITS=9 '$precise'" if $other ne $right;
    for my $k (0 .. $#decimals) {
        return "$decimals[$k] has another number of digits than $usual[$k], "
          . 'which the program prints'
          if decimals_after_point($decimals[$k]) != decimals_after_point($usual[$k]);
        return "$decimals[$k] is shown where the program has $precise[$k]"
          if !rounds_to($decimals[$k], $precise[$k]);
    }
    return;
}

# Compares shown lines, each [line number, text], with a run.
sub _compare_run {
    my ($self, $shown, $usual, $precise) = @_;
    my @shown   = grep { $_->[1] =~ /\S/ } @$shown;
    my @usual   = grep { /\S/ } @$usual;
    my @precise = grep { /\S/ } @$precise;
    for my $k (0 .. $#shown) {
        my ($number, $text) = @{$shown[$k]};
        return "$self->{path}:$number: '$text' is shown, but the program has "
          . 'ended by then' if $k > $#usual;
        my $wrong = compare_lines($text, $usual[$k], $precise[$k]);
        return "$self->{path}:$number: $wrong" if $wrong;
    }
    return if @shown == @usual;
    my $number = @shown ? $shown[-1][0] : 1;
    return "$self->{path}:$number: the program goes on with "
      . "'$usual[@shown]', which no output block shows";
}

sub _numbered {
    my ($block) = @_;
    return map { [$block->{first} + 1 + $_, $block->{lines}[$_]] } 0 .. $#{$block->{lines}};
}

# Form of a block: it begins with a label, and fits a page.
sub _check_form {
    my ($self, $block) = @_;
    my $place = "$self->{path}:" . ($block->{first} + 1);
    my @lines = @{$block->{lines}};
    my @wrong;
    push @wrong, "$place: an output block of " . @lines . ' lines: at most 25 fit'
      if @lines > 25;
    push @wrong, "$place: an output block begins with a label line, a text "
      . 'without decimals'
      if !@lines || $lines[0] !~ /[[:alpha:]]/
      || !$block->{status} && $lines[0] =~ /$DECIMAL/;
    for my $line (_numbered($block)) {
        push @wrong, "$self->{path}:$line->[0]: an output line of "
          . length($line->[1]) . ' columns: at most 72 fit'
          if length $line->[1] > 72 && !$block->{status};
    }
    return @wrong;
}

# The plain run, or that of a block with arguments: the lines it prints, the
# lines with DIGITS=9, and what is wrong with either as a whole. The figures of
# a page are those of its plain run; no other may draw over them.
sub _run_twice {
    my ($self, $program, $block) = @_;
    my ($args, $expect, $number) = $block ? @$block{qw(args status first)} : ('', 0, 1);
    my ($usual, $status) = run($program, $args, $block ? (FIGURES => '') : ());
    my ($precise, $end)  = run($program, $args, DIGITS => 9, FIGURES => '');
    my $fault =
        $status != $expect   ? "ends with status $status where $expect is expected"
                               . (@$usual ? "; its last words: $usual->[-1]" : '')
      : $end != $status      ? "ends with status $status, but with DIGITS=9 with $end"
      : @$precise != @$usual ? 'prints ' . @$usual . ' lines, but with DIGITS=9 ' . @$precise
      :                        undef;
    return ($usual, $precise, $fault ? "$self->{path}:$number: the program $fault" : ());
}

# All that is wrong with the chapter's output blocks, a line each.
sub check_outputs {
    my ($self, $program) = @_;
    my @outputs = $self->outputs;
    my @wrong   = map { $self->_check_form($_) } @outputs;
    my @plain   = grep { !defined $_->{args} } @outputs;
    my ($usual, $precise, @faults) = $self->_run_twice($program);
    push @wrong, @faults ? @faults
      : $self->_compare_run([map { _numbered($_) } @plain], $usual, $precise);
    for my $block (grep { defined $_->{args} } @outputs) {
        ($usual, $precise, @faults) = $self->_run_twice($program, $block);
        push @wrong, @faults ? @faults
          : $self->_compare_run([_numbered($block)], $usual, $precise);
    }
    return @wrong;
}

# Fills the output blocks from the program: the plain run's output is cut
# where the blocks' first lines occur, in order. Blocks that are right stay as
# they are, so that another CPU's last digit changes no file. Returns the new
# lines; dies with what is wrong.
sub fill_outputs {
    my ($self, $program) = @_;
    my @outputs = $self->outputs;
    my ($usual, $precise, $fault) = $self->_run_twice($program);
    die "$fault\n" if $fault;

    my (@start, $from);
    for my $block (grep { !defined $_->{args} } @outputs) {
        my ($anchor) = _holes($block->{lines}[0] // '');
        my $place = "$self->{path}:" . ($block->{first} + 1);
        die "$place: an output block needs its first line, the label\n" if $anchor eq '';
        my ($found) = grep { (_holes($usual->[$_]))[0] eq $anchor } ($from // 0) .. $#$usual;
        die "$place: the program does not print '$block->{lines}[0]'"
          . ($from ? ' after the block before' : '') . "\n" if !defined $found;
        die "$place: the program prints '$usual->[0]' before the first block\n"
          if !defined $from && $found > 0;
        push @start, $found;
        $from = $found + 1;
    }
    push @start, scalar @$usual;

    my %fill;
    for my $block (@outputs) {
        my ($lines, $digits);
        if (defined $block->{args}) {
            ($lines, $digits, $fault) = $self->_run_twice($program, $block);
            die "$fault\n" if $fault;
        }
        else {
            my ($first, $end) = (shift @start, $start[0]);
            $lines  = [@$usual[$first .. $end - 1]];
            $digits = [@$precise[$first .. $end - 1]];
        }
        $fill{$block->{first}} = $lines
          if $self->_compare_run([_numbered($block)], $lines, $digits);
    }
    my @new;
    my %length = map { $_->{first} => scalar @{$_->{lines}} } @outputs;
    for (my $i = 0; $i <= $#{$self->{lines}}; $i++) {
        if ($fill{$i}) {
            push @new, @{$fill{$i}};
            $i += $length{$i};
        }
        push @new, $self->{lines}[$i];
    }
    return @new;
}

1;
