C@ f2c
      SUBROUTINE JAC2D(N,M,LD,A,B)
      INTEGER N,M,LD,I,J
      DOUBLE PRECISION A(LD,*),B(LD,*)
C@ begin n=2048 m=2048 ld=2048
      DO 20 J = 2,M - 1
         DO 10 I = 2,N - 1
            B(I,J) = 0.25D0*(A(I-1,J) + A(I+1,J) + A(I,J-1) + A(I,J+1))
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE LAP3D(NX,NY,NZ,U,V,H2)
C     THE LAPLACIAN IN A BOX WITH A HALO
      INTEGER NX,NY,NZ,I,J,K
      DOUBLE PRECISION U(0:NX+1,0:NY+1,0:NZ+1),V(NX,NY,NZ),H2
C@ begin nx=128 ny=128 nz=128
      DO 30 K = 1,NZ
         DO 20 J = 1,NY
            DO 10 I = 1,NX
               V(I,J,K) = H2*(U(I+1,J,K) + U(I-1,J,K) + U(I,J+1,K)
     1            + U(I,J-1,K) + U(I,J,K+1) + U(I,J,K-1)
     2            - 6.0D0*U(I,J,K))
   10       CONTINUE
   20    CONTINUE
   30 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE SORRB(N,U,F,OMEGA,IC)
C     ONE COLOUR OF SUCCESSIVE OVERRELAXATION: THE START FOLLOWS THE ROW
      INTEGER N,IC,I,J
      DOUBLE PRECISION U(N,N),F(N,N),OMEGA,R
C@ begin n=1024 ic=0
      DO 20 J = 2,N - 1
         DO 10 I = 2 + MOD(J+IC,2),N - 1,2
            R = U(I-1,J) + U(I+1,J) + U(I,J-1) + U(I,J+1) - 4.0D0*U(I,J)
            U(I,J) = U(I,J) + OMEGA*(R - F(I,J))
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE RESTRC(NC,NF,R,RC)
C     FULL WEIGHTING TO A GRID OF HALF THE POINTS
      INTEGER NC,NF,IC,JC,IF,JF
      DOUBLE PRECISION R(NF,NF),RC(NC,NC)
C@ begin nc=512 nf=1024
      DO 20 JC = 2,NC - 1
         JF = 2*JC - 1
         DO 10 IC = 2,NC - 1
            IF = 2*IC - 1
            RC(IC,JC) = 0.25D0*R(IF,JF) + 0.125D0*(R(IF+1,JF)
     1         + R(IF-1,JF) + R(IF,JF+1) + R(IF,JF-1))
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE PROLNG(NC,NF,UC,U)
C     INTERPOLATION, TWO RUNNING INDICES
      INTEGER NC,NF,I,II,J,JJ
      DOUBLE PRECISION UC(NC,NC),U(NF,NF)
C@ begin nc=512 nf=1023
      JJ = 1
      DO 20 J = 1,NC
         II = 1
         DO 10 I = 1,NC
            U(II,JJ) = U(II,JJ) + UC(I,J)
            II = II + 2
   10    CONTINUE
         JJ = JJ + 2
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE WAVE1(NX,NT,U,C2)
C     THREE LEVELS IN TIME, KEPT IN THE LAST SUBSCRIPT
      INTEGER NX,NT,I,IT,N0,N1,N2
      DOUBLE PRECISION U(NX,3),C2
C@ begin nx=100000 nt=20
      N0 = 1
      N1 = 2
      N2 = 3
      DO 20 IT = 1,NT
         DO 10 I = 2,NX - 1
            U(I,N2) = 2.0D0*U(I,N1) - U(I,N0)
     1         + C2*(U(I+1,N1) - 2.0D0*U(I,N1) + U(I-1,N1))
   10    CONTINUE
         I = N0
         N0 = N1
         N1 = N2
         N2 = I
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE HEATST(N,NT,A,B)
      INTEGER N,NT,I,J,IT
      DOUBLE PRECISION A(N,N),B(N,N)
C@ begin n=512 nt=10
      DO 50 IT = 1,NT
         DO 20 J = 2,N - 1
            DO 10 I = 2,N - 1
               B(I,J) = A(I,J) + 0.125D0*(A(I+1,J) - 2.0D0*A(I,J)
     1            + A(I-1,J)) + 0.125D0*(A(I,J+1) - 2.0D0*A(I,J)
     2            + A(I,J-1))
   10       CONTINUE
   20    CONTINUE
         DO 40 J = 2,N - 1
            DO 30 I = 2,N - 1
               A(I,J) = B(I,J)
   30       CONTINUE
   40    CONTINUE
   50 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE PERBC(N,LD,A)
C     PERIODIC BOUNDARIES
      INTEGER N,LD,I,J,IP,IM
      DOUBLE PRECISION A(LD,*)
C@ begin n=4096 ld=4098
      DO 10 J = 1,N
         A(1,J) = A(N-1,J)
         A(N,J) = A(2,J)
   10 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE CYCDIF(N,A,B)
C     A CENTRED DIFFERENCE ON A RING, THE NEIGHBOURS BY IF
      INTEGER N,I,IP,IM
      DOUBLE PRECISION A(*),B(*)
C@ begin n=1000000
      DO 10 I = 1,N
         IP = I + 1
         IF (IP.GT.N) IP = 1
         IM = I - 1
         IF (IM.LT.1) IM = N
         B(I) = 0.5D0*(A(IP) - A(IM))
   10 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE ADI1(N,M,A,B,C)
C     A SWEEP ALONG THE COLUMNS, ALL ROWS AT ONCE
      INTEGER N,M,I,J
      DOUBLE PRECISION A(N,M),B(N,M),C(N,M)
C@ begin n=1024 m=1024
      DO 20 J = 2,M
         DO 10 I = 1,N
            A(I,J) = A(I,J) - A(I,J-1)*B(I,J)/C(I,J-1)
            C(I,J) = C(I,J) - B(I,J)*B(I,J)/C(I,J-1)
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
