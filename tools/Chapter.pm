package Chapter;

# A chapter as the tools see it: which lines are prose, which are code, what
# output it promises, which exercises it sets. This is the only parser of the
# format: pandoc is given what is found here.

use strict;
use warnings;
use utf8;
use Encode qw(decode);
use List::Util qw(first);

my $RANK    = qr/★+|\d+ points?|challenge|by hand/;
my $MAIN    = qr/^int main\(/;
my $FORM    = '**Exercise 2.1** (★★, 3 points): `name`. ...';

# The marks of what the page folds, and under which words.
my %FOLDS = ('/* unfolded */' => '', map { ("/* folded: $_ */" => ucfirst) } 'how this is printed', 'how this is drawn', 'how this is trained');

# How far a shown decimal may be from the value the program holds, besides
# half a unit of its last digit: on another CPU a sum may differ in its last
# bits and round the other way.
my $SLACK = 2e-6;

# Reads a file into:
#   path, name (02_softmax), number (02), lines (without line ends)
#   kind       for each line: prose, code, mark (the /* and */ lines, and those that fold) or fence
#   folded     for each line of code: the words under which the page folds it, or ''
#   blocks     its fences: info, first (index of the first line inside), lines
#   divs       [first, last] of each: the indices of its lines ":::"
#   exercises  id, about, function (undef if by hand), points, line (index), open (index
#              of the function's first brace)
# Dies with all that is wrong with the form, a line each.
sub load {
    my ($class, $path) = @_;
    open my $file, '<:encoding(UTF-8)', $path
      or die "$path: cannot be read: $!\n";
    chomp(my @lines = map { tr/\r//dr } <$file>);
    my ($name) = $path =~ m{([^/]+)\.\w+$};
    my $self = bless {path => $path, name => $name, lines => \@lines}, $class;
    ($self->{number}) = $name =~ /^(\w+?)_/;
    my @faults = ($self->_classify, $self->_find_folds, $self->_find_exercises);
    die map { "$path:" . ($_->[0] + 1) . ": $_->[1]\n" } sort { $a->[0] <=> $b->[0] } @faults
      if @faults;
    return $self;
}

# Writes a file of lines: a whole new one takes the old one's place, or none.
sub save {
    my ($path, @lines) = @_;
    my $new = "$path.new.$$"; # others may be writing it, too
    open my $file, '>:encoding(UTF-8)', $new or die "$new: $!\n";
    print $file map { "$_\n" } @lines;
    close $file and rename $new, $path or do { my $why = $!; unlink $new; die "$path: $why\n" };
    return $path;
}

# Tells the lines apart. C comments do not nest, and end at the first */: so
# neither mark stands in prose, not even in a fence.
sub _classify {
    my ($self) = @_;
    my $in_c = $self->{path} !~ /\.md$/; # else all of it is prose
    # How far it is read: the line in which prose began, the fence that is open, the divs
    # that are open and those that are closed, and what was found.
    my $seen = {prose => !$in_c, divs => [], closed => [], kind => [], blocks => [], faults => []};
    for my $i (0 .. $#{$self->{lines}}) {
        my $line = $self->{lines}[$i];
        my ($mark) = $in_c ? $line =~ m{^(/\*|\*/)\s*$} : ();
        $seen->{kind}[$i] = $seen->{prose} ? 'prose' : 'code';
        if ($mark && ($mark eq '*/' || !$seen->{prose})) { _see_mark($seen, $i, $mark) }
        elsif (!$seen->{prose})                          { next }
        elsif ($in_c && $line =~ m{(/\*|\*/)}) {
            push @{$seen->{faults}}, [$i, qq{prose holds "$1": $line (the prose of line $seen->{prose} ends by a }
              . 'line that is only "*/")'];
        }
        elsif (!_see_fence($seen, $i, $line) && $line =~ /^\s*:::+\s*(.*?)[\s:]*$/) {
            my $before = $i && $seen->{kind}[$i - 1] ne 'mark' ? $self->{lines}[$i - 1] : '';
            _see_div($seen, $i, $1, $line, $before);
        }
    }
    _abandon($seen, '');
    push @{$seen->{faults}}, [$seen->{prose} - 1, 'prose is never closed: a line that is only "*/" is missing']
      if $in_c && $seen->{prose};
    @$self{qw(kind blocks divs)} = @$seen{qw(kind blocks closed)};
    return @{$seen->{faults}}, @{$seen->{divs}};
}

# A fence that is still open when something else begins is never closed.
sub _abandon {
    my ($seen, $why) = @_;
    my $fence = delete $seen->{fence} or return;
    push @{$seen->{faults}}, [$fence->{first} - 1, "the fence ``` $fence->{info} is never closed$why"];
}

sub _see_mark {
    my ($seen, $i, $mark) = @_;
    push @{$seen->{faults}}, [$i, '"*/" ends prose that no line "/*" opened'] if $mark eq '*/' && !$seen->{prose};
    _abandon($seen, ': ``` is missing before the prose ends in line ' . ($i + 1));
    $seen->{kind}[$i] = 'mark';
    $seen->{prose} = $mark eq '/*' ? $i + 1 : 0;
}

# Whether a line opens a fence, closes one, or stands in one.
sub _see_fence {
    my ($seen, $i, $line) = @_;
    my $fence = $seen->{fence};
    if ($fence && $line =~ /^\Q$fence->{mark}\E\s*$/) { delete $seen->{fence} }
    elsif ($line =~ /^(\s*(?:```+|~~~+))\s*(.*?)\s*$/ && !($fence && ($fence->{mark} ne '```' || $1 =~ /~/))) {
        my ($mark, $info) = ($1, $2);
        _abandon($seen, ': ``` is missing before line ' . ($i + 1) . ' opens another');
        push @{$seen->{blocks}}, $seen->{fence} = {mark => $mark, info => $info, first => $i + 1, lines => []};
        push @{$seen->{faults}}, [$i, 'a fence is three backticks in column 0, alone or before a word or '
          . "{...}: not $line"] if "$mark$info" !~ /^```(?:\w*|\{[^`]*\})$/;
    }
    elsif ($fence) { push @{$fence->{lines}}, $line }
    else           { return 0 }
    $seen->{kind}[$i] = 'fence';
    return 1;
}

# A line of colons opens the div that it names, or closes the last one.
sub _see_div {
    my ($seen, $i, $name, $line, $before) = @_;
    if ($name ne '') {
        push @{$seen->{divs}}, [$i, "the div ::: $name is never closed: a line \":::\" is missing"];
        push @{$seen->{faults}}, [$i, "this opens no div: $line (one word or {...} must follow the colons)"]
          if $name !~ /^(?:\S+|\{.*\})$/;
        push @{$seen->{faults}}, [$i, "a blank line is missing before $line"]
          if $before =~ /\S/ && $before !~ /^\s*:::/;
    }
    elsif (my $div = pop @{$seen->{divs}}) { push @{$seen->{closed}}, [$div->[0], $i] }
    else { push @{$seen->{faults}}, [$i, '":::" closes a div that was never opened'] }
}

# What is folded: the code from a mark up to prose or the next mark; and main, with the
# comment right above it, or with all of the run where that is folded.
sub _find_folds {
    my ($self) = @_;
    my ($lines, $kind) = @$self{qw(lines kind)};
    my ($words, @folded, @faults) = ('');
    for my $i (0 .. $#$lines) {
        $words = '' if $kind->[$i] ne 'code';
        if ($kind->[$i] eq 'code' && $lines->[$i] =~ m{^\s*/[/*]\s*(?:un)?folded\s*(?::|\*/|$)}) {
            my $new  = $FOLDS{$lines->[$i]};
            my $next = first { $lines->[$_] =~ /\S/ } $i + 1 .. $#$lines;
            push @faults, [$i, defined $new ? "this mark changes nothing: $lines->[$i]"
                : 'a mark is one of ' . join(', ', sort keys %FOLDS) . ": not $lines->[$i]"]
              if !defined $new || $new eq $words || !$next || $kind->[$next] ne 'code'
              || $self->{path} =~ /\.h$/ || $lines->[$next] =~ $MAIN || defined $FOLDS{$lines->[$next]};
            ($kind->[$i], $words) = ('mark', $new // '');
        }
        $folded[$i] = $words;
    }
    for my $run ($self->runs) {
        my $main = first { $lines->[$_] =~ $MAIN } $run->[0] .. $run->[1] or next;
        my (undef, $close) = $self->_braces($main) or next;
        my $from = $folded[$main] ? $run->[0] : $self->_comment_above($main, $run->[0]);
        @folded[$from .. $close] = ('The program') x ($close - $from + 1);
    }
    $self->{folded} = \@folded;
    return @faults;
}

# An exercise's heading may run on to the next line.
sub _find_exercises {
    my ($self) = @_;
    my ($path, $lines, $number) = @$self{qw(path lines number)};
    $number = ($number // "a chapter's number") =~ s/^0+//r;
    my @faults;
    for my $i ($self->lines_of('prose')) {
        next if $lines->[$i] !~ /^[\s>*+-]*\*\*Exercise\b/;
        my $heading = join ' ', $lines->[$i], $lines->[$i + 1] // '';
        my ($id, $about, $function) = $heading
          =~ /^\*\*Exercise (\w+\.\d+)\*\* \(((?:$RANK)(?:, (?:$RANK))*)\):\s(?:\s*`(\w+)`)?/;
        if (!defined $id) {
            push @faults, [$i, "an exercise begins like $FORM or with (★★★, challenge) or "
              . "(by hand): not $lines->[$i]"];
            next;
        }
        undef $function if $about =~ /by hand/;
        my ($open) = $function ? eval { $self->body($function) } : ();
        push @faults, [$i, "exercise $id stands in $path: its number must begin with $number."]
          if index($id, "$number.") != 0;
        push @faults, [$i, "exercise $id is no paragraph of its own: a blank line is missing before it"]
          if $i && $self->{kind}[$i - 1] ne 'mark' && $lines->[$i - 1] =~ /\S/;
        push @faults, [$i, "exercise $id names no function: $FORM"]
          if !$function && $about !~ /by hand/;
        push @faults, [$i, "exercise $id asks for $function, which is folded"]
          if defined $open && $self->{folded}[$open];
        push @faults, [$i, "exercise $id names the function $function, which $path does not define with "
              . 'its { and } in column 0']
          if $function && !defined $open;
        push @{$self->{exercises}}, {id => $id, about => $about, function => $function,
            points => $about =~ /(\d+) points?/ ? $1 : undef, line => $i, open => $open};
    }
    $self->{exercises} //= [];
    return @faults;
}

# The indices of the lines of a kind.
sub lines_of {
    my ($self, $kind) = @_;
    return grep { $self->{kind}[$_] eq $kind } 0 .. $#{$self->{kind}};
}

# The runs of code between marks, without blank lines around: [first, last].
sub runs {
    my ($self) = @_;
    my @runs;
    for my $i (grep { $self->{lines}[$_] =~ /\S/ } $self->lines_of('code')) {
        if (!@runs || grep { $_ ne 'code' } @{$self->{kind}}[$runs[-1][1] .. $i]) {
            push @runs, [$i, $i];
        }
        $runs[-1][1] = $i;
    }
    return @runs;
}

# Where the comment begins that ends right above a line, or the line itself.
sub _comment_above {
    my ($self, $i, $first) = @_;
    my $lines = $self->{lines};
    my $begin = $i;
    while ($begin > $first && $lines->[$begin - 1] =~ m{^//|\*/\s*$}) {
        my $up = $begin - 1;
        $up-- while $up > $first && $lines->[$up] !~ m{/\*|^//};
        last if $lines->[$up] !~ m{^/[/*]};
        $begin = $up;
    }
    return $begin;
}

# What the code defines outside of functions: name, kind (function or data),
# is_static, is_folded, and first and last, the lines of its declaration.
sub definitions {
    my ($self) = @_;
    my $lines = $self->{lines};
    my @found;
    for my $i ($self->lines_of('code')) {
        next if $lines->[$i] !~ /^[a-zA-Z_]/ || $lines->[$i] =~ /^typedef\b/;
        my $is_static = $lines->[$i] =~ /^static\b/ || 0;
        if ($lines->[$i] =~ /^\w[\w\s*]*?\b(\w+)\(/) {
            my $name = $1;
            my ($open) = $lines->[$i] =~ /\{.*\}\s*$/ ? $i + 1 : $self->_braces($i) or next;
            push @found, {name => $name, kind => 'function', is_static => $is_static,
                is_folded => !!$self->{folded}[$i], first => $i, last => $open - 1} if $name ne 'main';
        }
        elsif ($lines->[$i] =~ /^\w[\w\s*]*?\b(\w+)(?:\[[^\]]*\])*\s*=/) {
            push @found, {name => $1, kind => 'data', is_static => $is_static, first => $i,
                last => $i};
        }
    }
    return @found;
}

# A run of code in pieces, none of which begins or ends with a blank line: {first, last},
# and folded, the words under which the page folds it.
sub pieces {
    my ($self, $first, $last) = @_;
    my @pieces;
    for my $i (grep { $self->{lines}[$_] =~ /\S/ } $first .. $last) {
        my $words = $self->{folded}[$i] // '';
        push @pieces, {first => $i, folded => $words} if !@pieces || $words ne $pieces[-1]{folded};
        $pieces[-1]{last} = $i;
    }
    return @pieces;
}

# How long the chapter is, up to its solutions: the words of its prose, without
# hints, and the lines of its code that are open on the page, where the book's own
# headers are folded.
sub measure {
    my ($self) = @_;
    my ($lines, $kind) = @$self{qw(lines kind)};
    my ($end) = grep { $kind->[$_] eq 'prose' && $lines->[$_] =~ /^## Solutions\b/ } 0 .. $#$lines;
    $end //= @$lines;
    my ($words, $hint) = (0, 0);
    for my $line (map { $lines->[$_] } grep { $_ < $end } $self->lines_of('prose')) {
        if ($line =~ /^\s*:::+\s*(.*?)[\s:]*$/) { $hint = $1 =~ /^\{?\.?(?:hint|done)\b/ }
        elsif (!$hint) { $words += () = $line =~ /\S+/g }
    }
    my @open = grep { !$_->{folded} && $_->{first} < $end } map { $self->pieces(@$_) } $self->runs;
    my $code = grep { $lines->[$_] =~ /^(?!#include ").*\S/ } map { $_->{first} .. $_->{last} } @open;
    return ($words, $code);
}

# The indices of a function's braces, both in column 0.
sub body {
    my ($self, $function) = @_;
    my $lines = $self->{lines};
    for my $open ($self->lines_of('code')) {
        next if $lines->[$open] !~ /^\w[^;]*\b\Q$function\E\(/;
        my @braces = $self->_braces($open);
        return @braces if @braces;
    }
    die "$self->{path}: no function $function with its braces in column 0\n";
}

# Those of the function that begins at a line, if it has a body.
sub _braces {
    my ($self, $open) = @_;
    my $lines = $self->{lines};
    $open++ while $open < $#$lines && $lines->[$open] !~ /^\{|[;}]\s*$/;
    return if $lines->[$open] !~ /^\{/;
    my $close = $open;
    $close++ while $close < $#$lines && $lines->[$close] !~ /^\}/;
    return ($open, $close);
}

# C without its comments, and with empty texts: braces and names in them count for
# nothing. No line moves. What is never closed goes on to its end, so that no text
# takes long.
my $COMMENT = qr{/\*.*?(?:\*/|\z)|//[^\n]*}s;
my $QUOTED  = qr{"(?:\\.|[^"\\\n])*+"?|'(?:\\.|[^'\\\n])*+'?}s;
sub bare {
    my ($code) = @_;
    no warnings 'regexp'; # a text of 64 KiB counts as two
    $code =~ s{($COMMENT|$QUOTED)}{my $part = $1; ($part =~ m{^/} ? '' : '""') . $part =~ tr/\n//cdr}ge;
    return $code;
}

# A function, so, in a file that may be half written: '' if it is not there.
sub code_of {
    my ($function, @lines) = @_;
    my $code = bare(join "\n", @lines);
    while ($code =~ /^\w[^\n;{}]*(?:\n[^\n;{}]*){0,8}?\b\Q$function\E\(/mg) {
        my $from = $-[0];
        next if $code !~ /\G[^;{}]{0,4000}\{/gc;
        my $end = index $code, "\n}", pos $code;
        return $end < 0 ? '' : substr $code, $from, $end + 2 - $from;
    }
    return '';
}

# The first function of a file whose braces don't match before the next one begins: its
# line, and how many there are of either.
sub unmet {
    my $code = bare(join "\n", @_);
    my @begin;
    while ($code =~ /^\w[\w\s*]*?[\s*](\w+)\([^;{}]*(?=\{)/gm) {
        push @begin, [$1, $-[0]] if $1 !~ /^(?:if|for|while|switch)$/;
    }
    for my $k (0 .. $#begin) {
        my ($name, $from) = @{$begin[$k]};
        my $text = substr $code, $from, ($k < $#begin ? $begin[$k + 1][1] : length $code) - $from;
        my ($opened, $closed) = ($text =~ tr/{//, $text =~ tr/}//);
        return (1 + substr($code, 0, $from) =~ tr/\n//, "$name: $opened { and $closed }: each { needs its }")
          if $opened != $closed;
    }
    return;
}

# Where the text of an exercise ends: at its function, or at what follows.
sub text_end {
    my ($self, $exercise) = @_;
    my ($lines, $kind) = @$self{qw(lines kind)};
    my $end = $exercise->{line} + 1;
    $end++ while $end < @$lines && $kind->[$end] eq 'prose' && $lines->[$end] !~ /^(?:#+ |\*\*Exercise\b)/;
    return $end;
}

# The divs in the text of an exercise that are of this kind: hint, or done, which is
# for who has solved it.
sub below {
    my ($self, $exercise, $kind) = @_;
    my $end = $self->text_end($exercise);
    return sort { $a->[0] <=> $b->[0] } grep { $_->[0] > $exercise->{line} && $_->[0] < $end
          && $self->{lines}[$_->[0]] =~ /^:::+ *\{?\.?$kind\b/ } @{$self->{divs}};
}

# The lines with the bodies of these exercises empty, and what is said of their
# solutions. None of them moves, so that file, page and compiler speak of the
# same line.
sub unsolved {
    my ($self, @exercises) = @_;
    my @lines = @{$self->{lines}};
    for my $exercise (@exercises) {
        my ($open, $close) = $self->body($exercise->{function});
        die "$self->{path}:@{[$open + 1]}: a body of two lines at least is needed\n"
          if $close - $open < 3;
        $lines[$_] = '' for $open + 1 .. $close - 1;
        $lines[$open + 1] = qq{    TODO("$exercise->{id}");};
        for my $div (@{$self->{divs}}) {
            my ($begin, $end) = @$div;
            next if $lines[$begin] !~ /\.solution\b.*\bexercise="\Q$exercise->{id}\E"/;
            $lines[$_] = '' for grep { $self->{kind}[$_] eq 'prose' } $begin + 1 .. $end - 1;
        }
    }
    return @lines;
}

# The same as a learner gets it: hints are for who asks for them.
sub emptied {
    my ($self, @exercises) = @_;
    my @lines = $self->unsolved(@exercises);
    for my $exercise (@exercises) {
        my ($hint, @more) = map { $self->below($exercise, $_) } qw(hint done);
        $lines[$_] = '' for map { $_->[0] .. $_->[1] } grep { defined } $hint, @more;
        $lines[$hint->[0]] = "(A hint: `make hint-$exercise->{id}`.)" if $hint;
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

# How C is compiled and linked, as make does it; without make, as any compiler would.
sub compiler { return ($ENV{COMPILE} // 'cc -std=c11 -Isrc -fopenmp', $ENV{LINK} // '-fopenmp -lm') }

# Runs a program as the shell would, and returns what it prints (a refusal's
# message included) as lines, and its status.
sub run { return finished(begun(@_)) }

sub begun {
    my ($program, $args, %environment) = @_;
    %environment = (DIGITS => '', %environment); # a reader's own does not count
    local @ENV{keys %environment} = values %environment;
    my $under = $ENV{RUN_UNDER} // '';
    utf8::encode($args) if defined $args; # a folder's name in it is bytes, too
    open my $pipe, '-|', "$under '$program' " . ($args // '') . ' 2>&1'
      or die "$program: cannot be run: $!\n";
    return $pipe;
}

sub finished {
    my ($pipe) = @_;
    chomp(my @lines = map { decode('UTF-8', $_) } <$pipe>); # of what is no text, U+FFFD
    close $pipe;
    my $status = $? & 127 ? 128 + ($? & 127) : $? >> 8;
    return (\@lines, $status);
}

# Runs a test program and returns its tests: name, ok, told (what went wrong:
# for each key of the YAML its text) and empty (the exercises that it found
# empty).
sub run_tests {
    my ($program) = @_;
    return tests_of($program, run($program, ''));
}

# The same of what it has printed, and its status.
sub tests_of {
    my ($program, $lines, $status) = @_;
    my (@tests, @rest, $planned);
    for (@$lines) {
        if (/^(not )?ok \d+ - (.*)/) { push @tests, {ok => !$1, name => $2, told => {}, empty => []} }
        elsif (/^  (\w+): "(.*)"$/ && @tests) {
            my ($key, $text) = ($1, $2);
            $text =~ s/\\(?:x(..)|(.))/$2 \/\/ chr hex $1/ge;
            $tests[-1]{told}{$key} = $text;
            push @{$tests[-1]{empty}}, $text =~ /exercise (\S+) is still empty/g;
        }
        elsif (/^1\.\.(\d+)$/) { $planned = $1 }
        elsif (!/^(?:TAP version|  (?:---|\.\.\.)$)/) { push @rest, $_ }
    }
    push @tests, {ok => 0, name => "$program ends with status $status", told => {printed => "@rest"},
        empty => []} if @rest || $status > 1 || @tests != ($planned // -1)
      || $status && !grep { !$_->{ok} } @tests;
    return @tests;
}

# Is the shown decimal the rounding of the value?
sub rounds_to {
    my ($shown, $value) = @_;
    my ($digits) = $shown =~ /\.(\d+)/;
    return abs($shown - $value) <= 0.5 * 10**-length($digits) + $SLACK;
}

1;
