package Exercises;

# The exercises of a student edition, as someone who works on them meets them:
# where each stands, its hints, what to read again, how the book does it, and how
# far it is. What the book says is read in .book, where tools/learn/student has left
# it: a learner's own file may be half written at any time.

use strict;
use warnings;
use utf8;
use Digest::MD5 qw(md5_hex);
use Encode qw(encode_utf8);
use Time::HiRes qw(stat);
use Chapter;
use Plain;
use State;

my $KEPT = '.progress'; # what is kept from one day to the next

# Which are open here, and why one may be left out, if it may: it is a challenge, or stands
# beside what is asked for. None, in the book itself.
sub open_here { return map { /^(\S+) ?(.*)/ } lines_of('.book/exercises') }

# All that are open here, in the book's order: what Chapter says of each, and
# chapter, the book's, number, path, the learner's file, and is_extra, if it may be left out;
# and those by hand. The
# folder is that of the edition.
sub load {
    my ($class) = @_;
    my %wanted = open_here();
    die "this is no student edition: make student CHAPTER=01 DIR=work makes one, in work\n" if !%wanted;
    my $self = bless {exercises => [], by_hand => [], kept => {}}, $class;
    for my $chapter (map { Chapter->load($_) } sort glob '.book/*_*.c') {
        push @{$self->{$_->{function} ? 'exercises' : 'by_hand'}}, {%$_, chapter => $chapter,
            number => $chapter->{number}, path => "chapters/$chapter->{name}.c", is_extra => $wanted{$_->{id}}}
          for grep { defined $wanted{$_->{id}} || !$_->{function} } @{$chapter->{exercises}};
    }
    $self->_recall;
    return $self;
}

sub _recall {
    my ($self) = @_;
    $self->{kept} = {};
    /^(\S+) (\w+) (.*)/ and $self->{kept}{$1}{$2} = $3 for lines_of($KEPT);
}

# Keeps what has changed: [of which exercise or chapter, what, value] each. Another
# terminal may have kept something, too.
sub keep {
    my ($self, @changes) = @_;
    $self->_recall;
    my $kept = $self->{kept};
    $kept->{$_->[0]}{$_->[1]} = $_->[2] for @changes;
    Chapter::save($KEPT, map { my $of = $_; map { "$of $_ $kept->{$of}{$_}" } sort keys %{$kept->{$of}} }
          sort keys %$kept);
}

sub all { return @{$_[0]{exercises}} }

sub find {
    my ($self, $id) = @_;
    my ($found) = grep { $_->{id} eq $id } $self->all, @{$self->{by_hand}};
    my @near = map { $_->{id} } $self->all;
    if (my ($chapter) = $id =~ /^0*(\w+)\b/) {
        my @own = grep { /^\Q$chapter\E\./ } @near;
        @near = @own ? @own : ("$near[0] to $near[-1]");
    }
    return $found // die "there is no exercise $id here: " . join(', ', @near) . " can be written\n";
}

# The lines of a file, none if it is not there; their sum; and the exercises whose
# TODO it holds. It is asked for often, and read when it is another.
my %read;
sub _read {
    my ($path) = @_;
    my $now = join ' ', 'as of', (stat $path)[1, 7, 9];
    return $read{$path} if ($read{$path}{stat} // '') eq $now;
    my @lines;
    if (open my $file, '<:encoding(UTF-8)', $path) { chomp(@lines = map { tr/\r//dr } <$file>) }
    return $read{$path} = {stat => $now, lines => \@lines, sum => md5_hex(encode_utf8(join "\n", @lines)),
        todo => {map { /^\s*TODO\("(.*?)"\)/ ? ($1 => 1) : () } @lines}};
}

sub lines_of { return @{_read($_[0])->{lines}} }

# ---- What the book says.

# What is asked.
sub asked {
    my ($e) = @_;
    my @lines = @{$e->{chapter}{lines}}[$e->{line} .. $e->{chapter}->text_end($e) - 1];
    my ($last) = grep { $lines[$_] =~ /^:::/ } 0 .. $#lines;
    return Plain::plain(@lines[0 .. ($last // @lines) - 1]);
}

# Its hints, or what is said when it is done, each as lines.
sub below {
    my ($e, $kind) = @_;
    return map { [Plain::filled(@{$e->{chapter}{lines}}[$_->[0] + 1 .. $_->[1] - 1])] } $e->{chapter}->below($e, $kind);
}
sub hints { return below($_[0], 'hint') }
sub done  { return map { @$_ } below($_[0], 'done') }

# What to read again: the heading of the section that leads to it, and its lines. Where
# exercises alone stand under a heading, it is the first section of the chapter to which
# their text has a link, or else its beginning. What is to be written there is not shown.
sub section {
    my ($e) = @_;
    my ($chapter, $kind) = ($e->{chapter}, $e->{chapter}{kind});
    my $lines = [$chapter->emptied(grep { $_->{function} } @{$chapter->{exercises}})];
    my @heads = grep { $kind->[$_] eq 'prose' && $lines->[$_] =~ /^#+ / } 0 .. $#$lines;
    my ($from) = reverse grep { $_ < $e->{line} } @heads;
    my $end = $e->{line};
    my ($first) = grep { $kind->[$_] eq 'prose' && $lines->[$_] =~ /\S/ } $from + 1 .. $end;
    if ($first == $end || $lines->[$first] =~ /^\*\*Exercise\b/) {
        my @ids = map { /\[\]\(#([\w-]+)\)/g } @{$chapter->{lines}}[$e->{line} .. $chapter->text_end($e) - 1];
        my ($leads) = grep { defined } map { my $id = $_; grep { $lines->[$_] =~ /\{#\Q$id\E\}/ } @heads } @ids;
        $from = $leads // $heads[0];
        ($end) = grep { $_ > $from } @heads;
    }
    my ($title) = Plain::plain($lines->[$from]);
    return {title => $title, heading => $lines->[$from], text => [Plain::plain(@$lines[$from .. $end - 1])]};
}

# How the book does it: the function, and what is said of it; or what is found by hand.
# What a teacher hands out has none.
sub solution {
    my ($e) = @_;
    my $chapter = $e->{chapter};
    my ($lines, $kind) = @$chapter{qw(lines kind)};
    my ($div) = grep { $lines->[$_->[0]] =~ /\.solution\b.*\bexercise="\Q$e->{id}\E"/ } @{$chapter->{divs}};
    my @prose = $div ? Plain::plain(map { $lines->[$_] } grep { $kind->[$_] ne 'code' } $div->[0] .. $div->[1]) : ();
    return @prose if !$e->{function};
    my ($definition) = grep { $_->{name} eq $e->{function} } $chapter->definitions;
    my ($open, $close) = $chapter->body($e->{function});
    die "how the book does $e->{id} is not in this copy: it stands in the book\n" if !has_solution($e);
    return (@$lines[$definition->{first} .. $close], @prose ? ('', @prose) : ());
}

# What a teacher hands out has none of what is set.
sub has_solution { return Chapter::code_of($_[0]{function}, @{$_[0]{chapter}{lines}}) !~ /^\s*TODO\(/m }

# ---- Where it stands in the learner's file.

# The line, from 1, of what is still empty, or of the function, or of what is
# said there; 1 if nothing is found.
sub line_of {
    my ($path, @patterns) = @_;
    my @lines = lines_of($path);
    for my $pattern (@patterns) {
        my ($found) = grep { $lines[$_] =~ $pattern } 0 .. $#lines;
        return $found + 1 if defined $found;
    }
    return 1;
}

sub place {
    my ($e) = @_;
    return "$e->{path}:" . line_of($e->{path}, qr/^\s*TODO\("\Q$e->{id}\E"\)/,
        qr/^\w[^;]*\b\Q$e->{function}\E\(/, qr/^\*\*Exercise \Q$e->{id}\E\*\*/);
}

sub read_again {
    my ($e) = @_;
    my $section = section($e);
    return qq{"$section->{title}", $e->{path}:} . line_of($e->{path}, qr/^\Q$section->{heading}\E$/);
}

# Empties it again, with the declaration that the book has, and returns what is to be
# said of it: above all, where the file as it was has been kept. One that is gone, or
# no chapter any more, is there again with all its exercises empty. Hints begin anew.
sub empty_again {
    my ($self, $e) = @_;
    my @all = $self->all;
    $self->keep([$e->{id}, 'hints', 0]);
    my $k = 1;
    $k++ while -e "$e->{path}.$k";
    my @mine = lines_of($e->{path});
    my $now  = eval { Chapter->load($e->{path}) };
    my ($mine) = !$now || Chapter::unmet(join "\n", @mine) ? () : grep { $_->{name} eq $e->{function} } $now->definitions;
    if (!$mine) {
        my $kept = @mine && Chapter::save("$e->{path}.$k", @mine);
        Chapter::save($e->{path}, $e->{chapter}->emptied(grep { $_->{number} eq $e->{number} } @all));
        return "$e->{path} was gone: it is there again, and its exercises are empty" if !@mine;
        return "$e->{path} had lost its form: all its exercises are empty again. Your text is in $kept";
    }
    return "$e->{function} is empty already" if _read($e->{path})->{todo}{$e->{id}};
    my ($books) = grep { $_->{name} eq $e->{function} } $e->{chapter}->definitions;
    my (undef, $end)   = $now->body($e->{function});
    my (undef, $close) = $e->{chapter}->body($e->{function});
    my @empty = $e->{chapter}->emptied($e);
    my @lines = @{$now->{lines}};
    Chapter::save("$e->{path}.$k", @lines);
    splice @lines, $mine->{first}, $end - $mine->{first} + 1, @empty[$books->{first} .. $close];
    Chapter::save($e->{path}, @lines);
    return "$e->{function} is empty again. Your text is in $e->{path}.$k";
}

# ---- How far it is.

# What a file holds, in short.
sub sum { return _read($_[0])->{sum} }

# Has a chapter's file stayed as it was when tools/learn/progress told its states?
sub is_fresh {
    my ($self, $e) = @_;
    return ($self->{kept}{$e->{number}}{sum} // '') eq sum($e->{path});
}

# The learner's function, as it stands.
sub text_of { return Chapter::code_of($_[0]{function}, lines_of($_[0]{path})) }

# How far an exercise is. What is wrong, and calls one of an earlier chapter that is
# not done, waits for that; tools/learn/progress says the same within a chapter.
sub state {
    my ($self, $e) = @_;
    my $state = $self->_state($e);
    return $state if $state !~ /^wrong/;
    my $first = State::waits_for($e, [lines_of($e->{path})],
        grep { $_->{number} lt $e->{number} && $self->_state($_) ne 'done' } $self->all);
    return $first ? "waits for exercise $first" : $state;
}

# The state that was last told. What still holds its TODO, is empty.
sub _state {
    my ($self, $e) = @_;
    my $state = $self->{kept}{$e->{id}}{state};
    return _read($e->{path})->{todo}{$e->{id}} ? 'empty' : 'not compiled' if $self->{not_now}{$e->{number}};
    return $state if defined $state && $self->is_fresh($e);
    return 'empty' if _read($e->{path})->{todo}{$e->{id}};
    return defined $state && $state ne 'empty' ? $state : 'not tested yet';
}

# What `make test-02` has printed, taken apart: states by id, tests ([ok or not
# ok, name]) of the exercise that was asked for, failed (lines for each failure),
# faults (of the compiler; lines for each, errors alone if there are any).
sub told {
    my ($text) = @_;
    my %told = (states => {}, tests => [], failed => [], faults => []);
    my (@faults, $into);
    for (split /\n/, $text =~ tr/\r//dr) {
        if (/^FAILED  /) { push @{$told{failed}}, $into = [$_] }
        elsif (/^  (ok|not ok) +(.*)/)            { push @{$told{tests}}, [$1, $2]; undef $into }
        elsif (/^  (\w+\.\d+) +\w+ +(\S.*)/)      { $told{states}{$1} = $2; undef $into }
        elsif (/^(\S+\.[ch]:\d+):(?:\d+:)? (?:(fatal error|error|warning|note): )?(.*)/) {
            $into = ["$1: $3"];
            push @faults, [($2 // 'error'), $into] if ($2 // '') ne 'note';
        }
        elsif (/: (undefined reference to .*|multiple definition of .*)/) {
            push @faults, ['error', ["linking: $1"]];
        }
        elsif ($into && /^ /) { push @$into, $_ }
        else                  { undef $into }
    }
    my @errors = grep { $_->[0] =~ /error/ } @faults;
    # Of a missing brace the compiler tells far below: the function is named first.
    my %is_wrong = map { $_->[1][0] =~ m{^(chapters/\S+\.c):} ? ($1 => 1) : () } @errors;
    for my $path (sort keys %is_wrong) {
        my ($line, $why) = Chapter::unmet_in($path) or next;
        unshift @errors, ['error', ["$path:$line: $why"]];
    }
    $told{faults} = [map { $_->[1] } @errors ? @errors : @faults];
    $told{compiles} = !@errors;
    return \%told;
}

# Keeps what was told of a chapter whose file had this sum when its tests began.
sub learn {
    my ($self, $number, $sum, $told) = @_;
    return if !%{$told->{states}};
    my $states = $told->{states};
    $self->keep([$number, 'sum', $sum], map { [$_, 'state', $states->{$_}] } keys %$states);
}

# The next hint, which is then kept as seen, or the one that is asked for: its
# number, and its lines.
sub hint {
    my ($self, $e, $asked) = @_;
    my @hints = hints($e);
    my $seen = $self->{kept}{$e->{id}}{hints} // 0;
    die "exercise $e->{id} has hints 1 to " . @hints . ": HINT=$asked is none of them\n"
      if defined $asked && ($asked !~ /^\d+$/ || $asked < 1 || $asked > @hints);
    my $k = $asked // $seen + 1;
    my $over = $k > @hints;
    $k = @hints if $over;
    $self->keep([$e->{id}, 'hints', $k]) if $k > $seen;
    return ("Hint $k of " . @hints . " to $e->{id} $e->{function}" . ($over ? ', the last one:' : ':'),
        @{$hints[$k - 1] // []});
}

# Those that were seen, together.
sub hints_so_far {
    my ($self, $e) = @_;
    my @hints = hints($e);
    my $seen  = $self->{kept}{$e->{id}}{hints} || return;
    return (($seen > 1 ? "Hints 1 to $seen" : 'Hint 1') . ' of ' . @hints . " to $e->{id} $e->{function}:",
        map { $_ ? ('', @{$hints[$_]}) : @{$hints[$_]} } 0 .. $seen - 1);
}

# What is said of an exercise while something does not compile: where it is, if it is not
# in its own function.
sub blame {
    my ($self, $e, $fault) = @_;
    my ($path, $line) = ($fault // [''])->[0] =~ /^(\S+):(\d+)/ or return 'does not compile';
    my ($whose) = grep { $_->{path} eq $path && _spans($_, $line) } $self->all;
    return 'does not compile' if $whose ? $whose->{id} eq $e->{id} : $path eq $e->{path};
    return 'waits: ' . ($whose ? "$whose->{id} $whose->{function}" : "$path:$line") . ' does not compile';
}

# Does a line belong to a function of the learner's?
sub _spans {
    my ($e, $line) = @_;
    my $first = line_of($e->{path}, qr/^\w[^;]*\b\Q$e->{function}\E\(/);
    my $lines = text_of($e) =~ tr/\n//;
    return $lines && $line >= $first && $line <= $first + $lines;
}

# Those that are left out: empty, which they may be.
sub left { return grep { $_->{is_extra} && $_[0]->state($_) eq 'empty' } $_[0]->all }

# A bar of what is done, over all exercises that are open here, but for those.
sub bar {
    my ($self, $width) = @_;
    my %left = map { $_->{id} => 1 } $self->left;
    my @all  = grep { !$left{$_->{id}} } $self->all;
    my @done = grep { $self->state($_) eq 'done' } @all;
    my ($points, $of) = (0, 0);
    $points += $_->{points} // 0 for @done;
    $of     += $_->{points} // 0 for @all;
    my $text = sprintf '%d of %d exercises, %d of %d points', scalar @done, scalar @all, $points, $of;
    my $room = $width - length($text) - 4;
    return $text if $room < 4;
    my $full = int($room * $points / ($of || 1)) || ($points > 0);
    return '[' . '=' x $full . '-' x ($room - $full) . "] $text";
}

1;
